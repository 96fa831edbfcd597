"""Writes the file in its first argument to stderr, in pieces of the size in its second, and exits."""
import os
import sys

with open(sys.argv[1], "rb") as file:
    text = file.read()
size = int(sys.argv[2])
for at in range(0, len(text), size):
    piece = text[at : at + size]
    while piece:
        piece = piece[os.write(2, piece) :]
