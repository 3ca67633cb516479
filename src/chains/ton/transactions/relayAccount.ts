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

export const readRelayAccount = async (
  rpc: Pick<Rpc, 'readAccount'>,
  { address }: RelayWallet,
): Promise<RelayAccount> => {
  const { state, balance, data, timestamp } = await rpc.readAccount(address)
  if (state !== 'active') return { seqno: 0, balance, isDeployed: false, timestamp }
  const seqno = tryParse(() => data?.beginParse().skip(1).loadUint(32))
  if (seqno == null) throw new Error('A node returned a relay wallet without a seqno')
  return { seqno, balance, isDeployed: true, timestamp }
}

export interface AgreedAccount extends RelayAccount {
  /** Whether a second healthy endpoint reports this seqno or a higher one. */
  readonly isAgreed: boolean
}

/** Each endpoint by itself. */
export interface RelayWitnesses {
  readonly rpc: Pick<Rpc, 'readAccount'>
  /** Healthy ones. */
  listWitnesses(): readonly Pick<Rpc, 'readAccount'>[]
}

/**
 * With the highest seqno that two healthy endpoints report; one endpoint's where no other answers. `seen` was read just
 * now: with fewer than two endpoints nothing is asked again.
 */
export const readAgreedAccount = async (
  { rpc, listWitnesses }: RelayWitnesses,
  wallet: RelayWallet,
  seen?: RelayAccount,
): Promise<AgreedAccount> => {
  const witnesses = listWitnesses()
  const answers =
    witnesses.length < 2
      ? []
      : await Promise.allSettled(witnesses.map((witness) => readRelayAccount(witness, wallet)))
  const accounts = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  const [highest, second] = accounts.sort((left, right) => right.seqno - left.seqno)
  if (second !== undefined) return { ...second, isAgreed: true }
  return { ...(highest ?? seen ?? (await readRelayAccount(rpc, wallet))), isAgreed: false }
}
