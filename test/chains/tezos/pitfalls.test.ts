import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type ByReason, listByReason } from '../../support/byReason.js'
import { pollUntil } from '../../support/pollUntil.js'
import { contractOf, decode } from '../../support/tezos/base58.js'
import {
  batchOf,
  pay,
  submitBatch,
  submitCall,
  submitTransfer,
  usdt,
  waitForBlocks,
} from '../../support/tezos/payment.js'
import { useScene } from '../../support/useScene.js'
import { openScene, type Scene } from './scene.js'

const scene = useScene(openScene)
const otherToken = contractOf('other')
const router = contractOf('router')

beforeAll(async () => {
  const { chain, from, elsewhere } = scene
  chain.createToken(otherToken)
  chain.mint(otherToken, from, 1_000_000n)
  chain.mint(usdt, from, 1_000_000n, 1)
  chain.createRouter(router, usdt)
  chain.addOperator(usdt, from, router)
  chain.addOperator(usdt, from, elsewhere)
})
afterEach(() => {
  scene.chain.resume()
  scene.clock.shift(Date.now() - scene.clock.now().getTime())
})

type Proved = Parameters<Scene['verifyBy']>[1]

const payBatches = (batches: readonly unknown[], token = usdt) =>
  pay(scene.chain, scene.payer, batches, token)

/** The optimised form of an address of a tz1 account. */
const toBytes = (address: string) => ({ bytes: `0000${Buffer.from(decode('tz1', address)).toString('hex')}` })

const sources = ['octez', 'tzkt'] as const

/** A look-up reads a limited number of blocks, and the next one goes on: many were made where the test before took long. */
const waitUntilMissing = (source: (typeof sources)[number], transaction: string) =>
  pollUntil(
    async () => (await scene.findState(source, transaction)) === 'missing',
    'the search to end without the transaction',
  )
const accepted = { isValid: true, amount: 10_000n }

describe.each(sources)('a transfer on Tezos, read from %s', (source) => {
  const cases: readonly [string, () => Promise<Proved>][] = [
    ['made by the ordinary client library', async () => ({ transaction: await scene.pay() })],
    [
      'divided among several entries and batches',
      async () => ({
        transaction: await payBatches([
          batchOf(scene.from, { to: scene.elsewhere, amount: 7 }, { to: scene.payTo, amount: 4_000 }),
          batchOf(scene.from, { to: scene.payTo, amount: 6_000 }),
        ]),
      }),
    ],
    [
      'divided among several contents of one operation',
      async () => {
        const half = [batchOf(scene.from, { to: scene.payTo, amount: 5_000 })]
        const hash = await submitBatch(scene.chain, scene.payer, usdt, [half, half])
        return { transaction: await waitForBlocks(scene.chain, hash) }
      },
    ],
    [
      'in optimised Micheline: addresses as bytes, pairs of three',
      async () => {
        const hash = await submitTransfer(scene.chain, scene.payer, {
          to: usdt,
          parameter: {
            entrypoint: 'transfer',
            value: [
              {
                prim: 'Pair',
                args: [
                  toBytes(scene.from),
                  [{ prim: 'Pair', args: [toBytes(scene.payTo), { int: '0' }, { int: '10000' }] }],
                ],
              },
            ],
          },
        })
        return { transaction: await waitForBlocks(scene.chain, hash) }
      },
    ],
    ['with the token id as text', async () => ({ transaction: await scene.pay(), tokenId: '0' })],
    [
      'without contract and token id in the payload',
      async () => ({
        transaction: await scene.pay(),
        contractAddress: null,
        tokenId: null,
      }),
    ],
    ['of an asset written without token id', async () => ({ transaction: await scene.pay(), asset: usdt })],
  ]

  it.each(cases)('is accepted %s', async (_, prepare) => {
    expect(await scene.verifyBy(source, await prepare())).toMatchObject(accepted)
  })

  const refusals: ByReason<() => Promise<Proved>> = {
    transaction_not_found: {
      'a hash that the chain does not know': async () => ({
        transaction: 'onvsLP3JFZia2mzZKWaFuFkWg2L5p3BDUhzh5Kr6CiDDN3rtQ1D',
      }),
    },
    insufficient_amount: {
      'one unit too little': async () => ({ transaction: await scene.pay(9_999) }),
      'an amount that is smaller as a number but not as text': async () => ({
        transaction: await scene.pay(999_999),
        amount: 1_000_000n,
      }),
    },
    recipient_mismatch: {
      'a transfer to another account': async () => ({
        transaction: await payBatches([batchOf(scene.from, { to: scene.elsewhere, amount: 10_000 })]),
      }),
    },
    asset_mismatch: {
      'a transfer of another token id': async () => ({
        transaction: await payBatches([batchOf(scene.from, { to: scene.payTo, amount: 10_000, tokenId: 1 })]),
      }),
      'the same call of another contract': async () => ({
        transaction: await payBatches([batchOf(scene.from, { to: scene.payTo, amount: 10_000 })], otherToken),
      }),
      'a payload that names another token id': async () => ({ transaction: await scene.pay(), tokenId: 1 }),
      'a payload that names another contract': async () => ({
        transaction: await scene.pay(),
        contractAddress: otherToken,
      }),
    },
    sender_mismatch: {
      'a transfer that another account claims as its own': async () => ({
        transaction: await scene.pay(),
        from: scene.elsewhere,
      }),
    },
    transaction_failed: {
      'a failed operation, which is in a block too': async () => ({
        transaction: await scene.pay(999_000_000_000n),
      }),
      'a backtracked transfer, because another one of its operation failed': async () => {
        const hash = await submitBatch(scene.chain, scene.payer, usdt, [
          [batchOf(scene.from, { to: scene.payTo, amount: 10_000 })],
          [batchOf(scene.from, { to: scene.payTo, amount: 999_000_000_000 })],
        ])
        return { transaction: await waitForBlocks(scene.chain, hash) }
      },
    },
    no_matching_transfer: {
      'a transfer by an operator, as a payment of the owner': async () => ({
        transaction: await payAsOperator(),
      }),
      'a transfer by an operator, as a payment of the operator': async () => ({
        transaction: await payAsOperator(),
        from: scene.elsewhere,
      }),
      'a call between contracts, although it moves the tokens': async () => {
        const hash = await submitCall(scene.chain, scene.payer, router, ({ pay: call }) =>
          call?.({ from_: scene.from, to_: scene.payTo, amount: 10_000 }),
        )
        return { transaction: await waitForBlocks(scene.chain, hash) }
      },
      'a call between contracts, as a payment of the contract that made it': async () => {
        scene.chain.mint(usdt, router, 10_000n)
        const hash = await submitCall(scene.chain, scene.payer, router, ({ pay: call }) =>
          call?.({ from_: router, to_: scene.payTo, amount: 10_000 }),
        )
        return { transaction: await waitForBlocks(scene.chain, hash), from: router }
      },
      'another entrypoint with the parameter of transfer': async () => {
        const batches = [batchOf(scene.from, { to: scene.payTo, amount: 10_000 })]
        const hash = await submitCall(scene.chain, scene.payer, usdt, ({ check }) => check?.(batches))
        return { transaction: await waitForBlocks(scene.chain, hash) }
      },
      'a transfer of nothing': async () => ({ transaction: await scene.pay(0) }),
    },
    self_payment: {
      'a payment to oneself': async () => ({ transaction: await scene.pay(), payTo: scene.from }),
    },
    unsupported_asset: {
      'an asset that is not settled': async () => ({
        transaction: await scene.pay(),
        asset: `${otherToken}/0`,
      }),
    },
    invalid_payload_structure: {
      'a payload whose token id is no number': async () => ({ transaction: await scene.pay(), tokenId: 0.5 }),
    },
    transaction_too_old: {
      'an operation that is older than maxTimeoutSeconds': async () => {
        const transaction = await scene.pay()
        // Known from an earlier look-up, as while a client repeats its request.
        scene.chain.pause()
        await scene.verifyBy(source, { transaction })
        scene.clock.shift(130_000)
        return { transaction }
      },
    },
  }

  it.each(listByReason(refusals))('is refused: %s: %s', async (_, reason, prepare) => {
    expect(await scene.verifyBy(source, await prepare())).toMatchObject({ isValid: false, reason })
  })

  it('needs two blocks on top of its own', async () => {
    scene.chain.pause()
    try {
      const batches = [batchOf(scene.from, { to: scene.payTo, amount: 10_000 })]
      const transaction = await submitCall(scene.chain, scene.payer, usdt, ({ transfer }) =>
        transfer?.(batches),
      )
      await waitUntilMissing(source, transaction)
      for (let onTop = 0; onTop < 2; onTop++) {
        scene.chain.mine()
        expect(await scene.findState(source, transaction)).toBe('pending')
      }
      scene.chain.mine()
      expect(await scene.verifyBy(source, { transaction })).toMatchObject(accepted)
    } finally {
      scene.chain.resume()
    }
  })

  it('follows a reorg: an orphaned block proves nothing, its successor does', async () => {
    scene.chain.pause()
    try {
      const batches = [batchOf(scene.from, { to: scene.payTo, amount: 10_000 })]
      const submit = () => submitCall(scene.chain, scene.payer, usdt, ({ transfer }) => transfer?.(batches))
      const dropped = await submit()
      scene.chain.mine(2)
      expect(await scene.findState(source, dropped)).toBe('pending')
      scene.chain.ledger.reorganize(2, 'dropped')
      scene.chain.mine(4)
      await waitUntilMissing(source, dropped)
      const moved = await submit()
      scene.chain.mine()
      expect(await scene.findState(source, moved)).toBe('pending')
      scene.chain.ledger.reorganize(1, 'waiting')
      scene.chain.mine(1)
      expect(await scene.findState(source, moved)).toBe('pending')
      scene.chain.mine(2)
      expect(await scene.verifyBy(source, { transaction: moved })).toMatchObject(accepted)
    } finally {
      scene.chain.resume()
    }
  })
})

const payAsOperator = () =>
  pay(scene.chain, scene.other, [batchOf(scene.from, { to: scene.payTo, amount: 10_000 })])
