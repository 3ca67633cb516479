/** One spelling for comparisons: hex addresses are case-insensitive, base58 and names are not. */
export const foldAddress = (address: string): string =>
  /^0x[0-9a-f]+$/i.test(address) ? address.toLowerCase() : address
