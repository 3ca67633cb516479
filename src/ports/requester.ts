/** Whose share of limited work a request uses. */
export interface Requester {
  /** A customer, or the address of callers without a proven one: an IPv6 address counts as its /64 network. */
  readonly name: string
  /** The IPv6 /48 network around it; null for IPv4 and for customers. */
  readonly site: string | null
}
