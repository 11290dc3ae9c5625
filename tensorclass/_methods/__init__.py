"""The methods of every container, written from the table of ops; never edited by hand."""
