/** Whose share of limited work a request uses. */
export interface Requester {
  /** The id of an account, or the address of a caller without a key: an IPv6 address counts as its /64 network. */
  readonly name: string
  /** The IPv6 /48 network around it; null for IPv4 and for accounts. */
  readonly site: string | null
}
