/** The license texts of the packages that own these files, which are relative to the root. */
export const collectLicenses: (inputs: readonly string[]) => string
