"""The window in which pigs fly: a process of its own around PyBullet's viewer."""
