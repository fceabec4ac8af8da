"""Tests of reactions as feedback, and in place of an answer."""
