"""appell and its peers side by side: ratios and operation counts, never bare times."""
