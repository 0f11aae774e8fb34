"""What is said of each code: one `Entry` a code, in files by what the codes are about."""
