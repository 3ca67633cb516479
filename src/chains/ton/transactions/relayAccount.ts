import { tryParse } from '../encoding/cells.js'
import type { Rpc } from '../rpc/rpc.js'
import type { RelayWallet } from './relayWallets.js'

export interface RelayAccount {
  readonly seqno: number
  readonly balance: bigint
  readonly isDeployed: boolean
  /** Unix seconds, from the chain. */
  readonly timestamp: number
}

export const readRelayAccount = async (rpc: Rpc, { address }: RelayWallet): Promise<RelayAccount> => {
  const { state, balance, data, timestamp } = await rpc.readAccount(address)
  if (state !== 'active') return { seqno: 0, balance, isDeployed: false, timestamp }
  const seqno = tryParse(() => data?.beginParse().skip(1).loadUint(32))
  if (seqno == null) throw new Error('A node returned a relay wallet without a seqno')
  return { seqno, balance, isDeployed: true, timestamp }
}
