// A source for the precompiled headers to belong to.
