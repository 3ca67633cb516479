// Set in the identifiers that wallets of version 5 choose by themselves; workchain, version and number are 0.
const ownContext = 0x80000000

/** The identifier of an owner's first wallet of version 5 on a network: the network's global id is mixed in. */
export const defaultWalletId = (globalId: number): number => (ownContext ^ globalId) >>> 0
