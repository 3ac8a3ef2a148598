/** Told to the node in `hello`; a test keeps it equal to the package's version. */
export const sdkVersion = "0.1.0";
