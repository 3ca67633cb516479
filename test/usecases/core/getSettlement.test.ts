import { describe, expect, it } from 'vitest'
import type { Settlement } from '../../../src/ports/settlementJournal.js'
import { settlementDetails } from '../../../src/protocol/results.js'
import { createGetSettlement } from '../../../src/usecases/core/describe/listSettlements.js'
import { createMemoryJournal } from '../../support/memoryJournal.js'

const createdAt = new Date('2026-01-01T00:00:00Z')
const closedAt = new Date('2026-01-01T00:00:02Z')

const setup = (fields: Partial<Settlement> = {}) => {
  const journal = createMemoryJournal()
  return { row: journal.put({ createdAt, ...fields }), ...createGetSettlement(journal) }
}

const common = {
  scheme: 'exact',
  network: 'toy:1',
  asset: 'gold',
  payer: 'alice',
  payTo: 'bob',
  amount: '10000',
  createdAt: '2026-01-01T00:00:00.000Z',
}

describe('getSettlement', () => {
  it.each([
    ['claimed', {}, { status: 'pending', transaction: '' }],
    ['pending', { transaction: 'tx-1' }, { status: 'pending', transaction: 'tx-1' }],
    [
      'confirmed',
      { transaction: 'tx-1', closedAt },
      { status: 'confirmed', transaction: 'tx-1', closedAt: '2026-01-01T00:00:02.000Z' },
    ],
    [
      'failed',
      { reason: 'insufficient_funds', closedAt },
      {
        status: 'failed',
        transaction: '',
        errorReason: 'insufficient_funds',
        errorMessage: "The payer's token balance is lower than the payment",
        closedAt: '2026-01-01T00:00:02.000Z',
      },
    ],
  ] as const)('shows a %s row as the wire schema promises', async (state, fields, shown) => {
    const { row, getSettlement } = setup({ state, ...fields })
    const view = await getSettlement(row.id)
    expect(view).toEqual({ id: row.id, ...common, ...shown, transactions: [] })
    expect(settlementDetails.parse(view)).toEqual(view)
  })

  it('shows every transaction, and the block with whether it is final', async () => {
    const { row, getSettlement } = setup({
      state: 'confirmed',
      transaction: 'tx-2',
      broadcasts: ['tx-1', 'tx-2'].map((transaction) => ({ transaction, bytes: 'signed-bytes' })),
      block: { number: 7n, hash: 'block-7' },
      isFinal: true,
    })
    expect(await getSettlement(row.id)).toMatchObject({
      transactions: ['tx-1', 'tx-2'],
      block: { number: '7', hash: 'block-7', isFinal: true },
    })
  })

  it('shows neither caller, authorization, signed bytes nor consumer', async () => {
    const { row, getSettlement } = setup({
      state: 'confirmed',
      transaction: 'tx-1',
      caller: 'key-7',
      authorizationId: 'toy:1/secret-nonce',
      broadcasts: [{ transaction: 'tx-1', bytes: 'signed-bytes' }],
      consumedBy: 'key:key-7:order-1',
      fingerprint: 'fingerprint-1',
    })
    const shown = JSON.stringify(await getSettlement(row.id))
    for (const secret of ['key-7', 'secret-nonce', 'signed-bytes', 'order-1', 'fingerprint-1']) {
      expect(shown).not.toContain(secret)
    }
  })

  it('formats amounts beyond the safe integer range', async () => {
    const { row, getSettlement } = setup({ amount: 2n ** 256n - 1n })
    expect((await getSettlement(row.id)).amount).toBe(String(2n ** 256n - 1n))
  })

  it('throws NOT_FOUND for an unknown id', async () => {
    const { getSettlement } = setup()
    await expect(getSettlement('nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('getSettlementByTransaction', () => {
  const transaction = '0xabc'

  it.each(['eip155:8453', 'base'])('finds a transaction by the network name %s', async (name) => {
    const { row, getSettlementByTransaction } = setup({
      network: 'eip155:8453',
      state: 'pending',
      transaction,
    })
    expect((await getSettlementByTransaction({ network: name, transaction })).id).toBe(row.id)
  })

  it.each([
    ['a hash of EVM', `0x${'ab12'.repeat(16)}`, `0x${'AB12'.repeat(16)}`],
    ['a hash of TON or TRON', 'ab12'.repeat(16), 'Ab12'.repeat(16)],
  ])('finds %s in any letter case', async (_, stored, asked) => {
    const { row, getSettlementByTransaction } = setup({ state: 'pending', transaction: stored })
    expect((await getSettlementByTransaction({ network: 'toy:1', transaction: asked })).id).toBe(row.id)
  })

  it('tells letter cases of a base58 signature apart', async () => {
    const signature = `${'aB'.repeat(43)}1`
    const { row, getSettlementByTransaction } = setup({ state: 'pending', transaction: signature })
    const find = (name: string) => getSettlementByTransaction({ network: 'toy:1', transaction: name })
    expect((await find(signature)).id).toBe(row.id)
    await expect(find(signature.toLowerCase())).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('throws NOT_FOUND for a transaction of another network', async () => {
    const { getSettlementByTransaction } = setup({ network: 'eip155:8453', state: 'pending', transaction })
    await expect(getSettlementByTransaction({ network: 'eip155:1', transaction })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })
})
