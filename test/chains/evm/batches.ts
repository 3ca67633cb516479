import { hexToNumber } from 'viem'
import type { Outcome } from '../../../src/schemes/scheme.js'
import { callRpc } from '../../support/evm/jsonRpc.js'
import { eventually, type Scene } from './scene.js'

/* What became of payments that were settled together. */

// JUMPDEST PUSH1 0 JUMP: loops until out of gas.
export const endlessLoop = '0x5b600056'

export const countTransactions = (outcomes: readonly Outcome[]): number =>
  new Set(outcomes.map((outcome) => ('transaction' in outcome ? outcome.transaction : undefined))).size

/** The states, with the reason in place of `failed`. */
export const statesOf = (outcomes: readonly Outcome[]) =>
  outcomes.map((outcome) => (outcome.state === 'failed' ? outcome.reason : outcome.state))

/** The recorded transactions of accounts, in the order of their nonces. */
export const listRecorded = async (
  { database }: Scene,
  signers: readonly { readonly address: string }[],
): Promise<readonly { readonly nonce: number; readonly bytes: string; readonly payments: number }[]> => {
  const { rows } = await database.pool().query(
    `select b.nonce::int as nonce, b.bytes, count(s.settlement_id)::int as payments from broadcasts b
       left join broadcast_settlements s on s.network = b.network and s.transaction = b.transaction
       where b.signer = any($1) group by b.nonce, b.bytes order by b.nonce`,
    [signers.map(({ address }) => address)],
  )
  return rows
}

/** Waits until this many transactions are pending. */
export const whenInPool = ({ chain }: Scene, count: number) =>
  eventually(async () => {
    const status = await callRpc(chain.url, 'txpool_status')
    if (typeof status !== 'object' || status === null || !('pending' in status)) return null
    return hexToNumber(`0x${String(status.pending).replace(/^0x/, '')}`) >= count ? true : null
  })
