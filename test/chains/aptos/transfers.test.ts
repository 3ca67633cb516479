import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listTransfers } from '../../../src/chains/aptos/lookUp.js'
import { transactionShapeOf } from '../../../src/chains/aptos/rpc.js'
import { primaryStoreOf } from '../../support/aptos/bytes.js'

const [sender, merchant, third] = ['0a', '0b', '0c'].map((byte) => `0x${byte.repeat(32)}`) as [
  string,
  string,
  string,
]
const [asset, other] = ['1a', '1b'].map((byte) => `0x${byte.repeat(32)}`) as [string, string]

const revealed = (owner: string, metadata: string, store = primaryStoreOf(owner, metadata)) => [
  { store, owner, metadata: null },
  { store, owner: null, metadata },
]

const hash = `0x${'5'.repeat(64)}`
const executed = (events: readonly unknown[], changes: readonly unknown[] = []) => ({
  type: 'user_transaction',
  hash,
  success: true,
  sender: '0x1',
  timestamp: '1700000000123456',
  events,
  changes,
})

describe('the transfers of a transaction', () => {
  it('never exceed what the sender withdrew or what the recipient keeps', () => {
    const movement = fc.record({
      kind: fc.constantFrom('deposit' as const, 'withdraw' as const),
      store: fc.constantFrom(
        ...[sender, merchant, third].flatMap((owner) => [
          primaryStoreOf(owner, asset),
          primaryStoreOf(owner, other),
        ]),
      ),
      amount: fc.bigInt({ min: 0n, max: 1_000n }),
    })
    fc.assert(
      fc.property(fc.array(movement), (movements) => {
        const changes = [sender, merchant, third].flatMap((owner) => revealed(owner, other))
        const transfers = listTransfers(
          { sender, movements, changes, changedSupplies: [] },
          { asset, accounts: [sender, merchant] },
        )
        const sum = (kind: 'deposit' | 'withdraw', store: string) =>
          movements
            .filter((each) => each.kind === kind && each.store === store)
            .reduce((total, { amount }) => total + amount, 0n)
        for (const transfer of transfers) {
          const store = primaryStoreOf(transfer.to, transfer.asset)
          expect(transfer.from).toBe(sender)
          expect(transfer.amount).toBeGreaterThan(0n)
          expect(transfer.amount).toBeLessThanOrEqual(sum('deposit', store) - sum('withdraw', store))
          const paying = primaryStoreOf(sender, transfer.asset)
          expect(transfer.amount).toBeLessThanOrEqual(sum('withdraw', paying) - sum('deposit', paying))
        }
      }),
    )
  })

  it('name another recipient and asset only through stores that are primary stores', () => {
    const movements = [
      { kind: 'withdraw' as const, store: primaryStoreOf(sender, other), amount: 5n },
      { kind: 'deposit' as const, store: primaryStoreOf(third, other), amount: 3n },
      { kind: 'deposit' as const, store: `0x${'2b'.repeat(32)}`, amount: 2n },
    ]
    const changes = [
      ...revealed(sender, other),
      ...revealed(third, other),
      ...revealed(merchant, other, `0x${'2b'.repeat(32)}`),
    ]
    expect(
      listTransfers(
        { sender, movements, changes, changedSupplies: [] },
        { asset, accounts: [sender, merchant] },
      ),
    ).toEqual([{ asset: other, from: sender, to: third, amount: 3n, memo: null }])
  })
})

describe('a response of a node', () => {
  const shape = transactionShapeOf(hash)
  const deposit = { type: '0x1::fungible_asset::Deposit', data: { store: '0xab', amount: '7' } }

  it('is read with its movements, its time from microseconds', () => {
    expect(
      shape.parse(executed([deposit, { type: '0xbad::fungible_asset::Deposit', data: 1 }])),
    ).toMatchObject({
      includedAt: new Date(1_700_000_000_123),
      movements: [{ kind: 'deposit', store: `0x${'ab'.padStart(64, '0')}`, amount: 7n }],
    })
  })

  it.each(['Deposit', 'Withdraw'])('has no movement in a %s of another module', (name) => {
    const lookalike = { ...deposit, type: `0xbad::fungible_asset::${name}` }
    expect(shape.parse(executed([lookalike]))).toMatchObject({ movements: [] })
  })

  it.each([
    ['is of another transaction', { ...executed([]), hash: `0x${'6'.repeat(64)}` }],
    ['has a deposit without amount', executed([{ ...deposit, data: { store: '0xab' } }])],
    ['has a negative deposit', executed([{ ...deposit, data: { store: '0xab', amount: '-7' } }])],
    ['has a fractional deposit', executed([{ ...deposit, data: { store: '0xab', amount: '7.5' } }])],
    ['has a deposit to no address', executed([{ ...deposit, data: { store: 'ab', amount: '7' } }])],
    ['has no success', { ...executed([]), success: undefined }],
    ['has success as text', { ...executed([]), success: 'true' }],
    ['has no events', { ...executed([]), events: undefined }],
    ['has no time', { ...executed([]), timestamp: undefined }],
    ['has no type', { ...executed([]), type: undefined }],
  ])('that %s is invalid', (_, response) => {
    expect(shape.safeParse(response).success).toBe(false)
  })

  it('of the system is final and moved nothing', () => {
    expect(shape.parse({ type: 'block_metadata_transaction', hash })).toMatchObject({ state: 'system' })
  })

  it('never throws anything but a validation error', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (events, changes) => {
        shape.safeParse({ ...executed([]), events, changes })
        shape.safeParse(events)
      }),
    )
  })
})
