export interface AddressBlocks {
  /** Canonical form of an address or CIDR block: IPv4-mapped IPv6 as IPv4, host bits cleared. Null if invalid. */
  normalize(text: string): string | null
  /** `blocks` must be normalized. Returns false for an invalid address. */
  include(blocks: readonly string[], address: string): boolean
}
