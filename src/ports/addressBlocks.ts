/** What is known of IP addresses and CIDR blocks. */
export interface AddressBlocks {
  /** The one way to write an address or block: v4 where it is mapped into v6, host bits cleared; null for neither. */
  normalize(text: string): string | null
  /** Whether an address lies in one of the blocks, which are normalized; false for what is no address. */
  include(blocks: readonly string[], address: string): boolean
}
