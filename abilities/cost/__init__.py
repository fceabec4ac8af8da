"""What answers and tasks cost, told before: long answers by SMS ask how they shall come, and `cost` sums all up."""
