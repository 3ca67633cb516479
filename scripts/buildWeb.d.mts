/** Bundles web/src to web/dist, unless it is built from the same files. */
export const buildWeb: () => Promise<void>
