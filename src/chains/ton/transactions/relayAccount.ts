import { tryParse } from '../encoding/cells.js'
import type { Toncenter } from '../rpc/rpc.js'
import type { RelayWallet } from './relayWallets.js'

/** One of our wallets as the chain knows it. */
export interface RelayAccount {
  /** The number of its next message. */
  readonly seqno: number
  readonly balance: bigint
  readonly isDeployed: boolean
  /** Unix seconds, as the chain says. */
  readonly moment: number
}

/** Asks the chain for one of our wallets. */
export const readRelayAccount = async (api: Toncenter, { address }: RelayWallet): Promise<RelayAccount> => {
  const { state, balance, data, moment } = await api.readAccount(address)
  if (state !== 'active') return { seqno: 0, balance, isDeployed: false, moment }
  const seqno = tryParse(() => data?.beginParse().skip(1).loadUint(32))
  if (seqno == null) throw new Error('A node told a relay wallet without a number')
  return { seqno, balance, isDeployed: true, moment }
}
