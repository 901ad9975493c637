"""How often a captured bug is reproduced, and its fix recognized: 30 seeded bugs in three small applications."""
