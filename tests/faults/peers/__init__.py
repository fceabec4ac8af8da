"""T22: peers of every client speak as nobody should; everybody else is answered meanwhile."""
