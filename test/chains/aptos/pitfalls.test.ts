import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { primaryStoreOf } from '../../support/aptos/bytes.js'
import type { Program } from '../../support/aptos/execution.js'
import { call, submitCall, transferCall, usdt } from '../../support/aptos/payment.js'
import { standardForm, strippedForm } from '../../support/aptos/views.js'
import { type ByReason, listByReason } from '../../support/byReason.js'
import { useScene } from '../../support/useScene.js'
import { openScene, type Scene } from './scene.js'

const scene = useScene(openScene)
const otherAsset = `0x${'77'.repeat(32)}`
const withHook = `0x${'78'.repeat(32)}`
const secondary = `0x${'a1'.repeat(32)}`
const vault = `0x${'c0'.repeat(32)}`

beforeAll(async () => {
  const { chain, from } = scene
  for (const asset of [otherAsset, withHook]) {
    chain.createAsset(asset)
    chain.mint(asset, from, 1_000_000n)
  }
  chain.mint(usdt, vault, 1_000_000n)
})
afterEach(() => scene.clock.shift(-scene.clock.now().getTime() + Date.now()))

const storesOf = (asset: string) => [primaryStoreOf(scene.from, asset), primaryStoreOf(scene.payTo, asset)]

const betweenStores = (from: string | undefined, to: string | undefined, amount: bigint) =>
  call(scene.chain, scene.payer, {
    function: '0x1::fungible_asset::transfer',
    typeArguments: ['0x1::fungible_asset::FungibleStore'],
    functionArguments: [from, to, amount],
  })

/** Runs code of a module that the chain does not know otherwise. */
const runProgram = (name: string, program: Program) => {
  const path = `${vault}::${name}::run` as const
  scene.chain.ledger.programs.set(path, program)
  return call(scene.chain, scene.payer, { function: path, functionArguments: [] })
}

type Steps = (machine: Parameters<Program>[0]) => void

/** The sender moves its own units beside a deposit that another store pays. */
const escrowPrograms: readonly (readonly [string, Steps])[] = [
  [
    'after a transfer of the sender to itself',
    ({ withdraw, deposit, primaryStore }) => {
      withdraw(primaryStore(scene.from, usdt), 10_000n)
      deposit(primaryStore(scene.from, usdt), 10_000n)
      withdraw(primaryStore(vault, usdt), 10_000n)
      deposit(primaryStore(scene.payTo, usdt), 10_000n)
    },
  ],
  [
    'before a transfer of the sender to itself',
    ({ withdraw, deposit, primaryStore }) => {
      withdraw(primaryStore(vault, usdt), 10_000n)
      deposit(primaryStore(scene.payTo, usdt), 10_000n)
      withdraw(primaryStore(scene.from, usdt), 10_000n)
      deposit(primaryStore(scene.from, usdt), 10_000n)
    },
  ],
  [
    'within a transfer of the sender to itself',
    ({ withdraw, deposit, primaryStore }) => {
      withdraw(primaryStore(scene.from, usdt), 10_000n)
      withdraw(primaryStore(vault, usdt), 10_000n)
      deposit(primaryStore(scene.payTo, usdt), 10_000n)
      deposit(primaryStore(scene.from, usdt), 10_000n)
    },
  ],
  [
    'beside a transfer of the sender to its own secondary store',
    ({ withdraw, deposit, primaryStore }) => {
      withdraw(primaryStore(vault, usdt), 10_000n)
      withdraw(primaryStore(scene.from, usdt), 10_000n)
      deposit(primaryStore(scene.payTo, usdt), 10_000n)
      deposit(scene.chain.ledger.openStore(`0x${'a3'.repeat(32)}`, scene.from, usdt), 10_000n)
    },
  ],
  [
    'after a deposit to a third account, which the sender may have paid',
    ({ withdraw, deposit, primaryStore }) => {
      withdraw(primaryStore(scene.from, usdt), 10_000n)
      withdraw(primaryStore(vault, usdt), 10_000n)
      deposit(primaryStore(scene.elsewhere, usdt), 10_000n)
      deposit(primaryStore(scene.payTo, usdt), 10_000n)
    },
  ],
  [
    'that the sender funded with the same amount for itself',
    ({ withdraw, deposit, primaryStore }) => {
      withdraw(primaryStore(scene.from, usdt), 10_000n)
      deposit(primaryStore(vault, usdt), 10_000n)
      withdraw(primaryStore(vault, usdt), 10_000n)
      deposit(primaryStore(scene.payTo, usdt), 10_000n)
    },
  ],
  [
    'that repays the sender what it paid',
    ({ withdraw, deposit, primaryStore }) => {
      withdraw(primaryStore(scene.from, usdt), 10_000n)
      deposit(primaryStore(scene.payTo, usdt), 10_000n)
      withdraw(primaryStore(vault, usdt), 10_000n)
      deposit(primaryStore(scene.from, usdt), 10_000n)
    },
  ],
  [
    'that is minted, beside what the sender burned',
    ({ withdraw, deposit, primaryStore, changeSupply }) => {
      withdraw(primaryStore(scene.from, usdt), 10_000n)
      deposit(primaryStore(scene.payTo, usdt), 10_000n)
      changeSupply(usdt)
    },
  ],
]

const accepted = { isValid: true, amount: 10_000n }

describe('a transfer on Aptos', () => {
  it('is accepted as the ordinary client library makes it', async () => {
    const result = await scene.verify({ transaction: await scene.pay() })
    expect(result).toMatchObject({ ...accepted, payer: scene.from, authorizedAmount: 10_000n })
  })

  it.each([
    ['0x1::aptos_account::transfer_fungible_assets', () => [usdt, scene.payTo, 10_000n]],
    [
      '0x1::aptos_account::batch_transfer_fungible_assets',
      () => [usdt, [scene.payTo, scene.elsewhere, scene.payTo], [4_000n, 5n, 6_000n]],
    ],
  ] as const)('by %s counts with all its deposits', async (name, listArguments) => {
    const data = { function: name, functionArguments: [...listArguments()] }
    const transaction = await call(scene.chain, scene.payer, data)
    expect(await scene.verify({ transaction })).toMatchObject(accepted)
  })

  it('counts beside what other stores pay to others, before and after', async () => {
    const transaction = await runProgram('beside', ({ withdraw, deposit, primaryStore }) => {
      const payOther = () => {
        withdraw(primaryStore(vault, usdt), 7n)
        deposit(primaryStore(scene.elsewhere, usdt), 7n)
      }
      payOther()
      withdraw(primaryStore(scene.from, usdt), 10_100n)
      deposit(primaryStore(scene.payTo, usdt), 10_000n)
      deposit(primaryStore(scene.elsewhere, usdt), 100n)
      payOther()
    })
    expect(await scene.verify({ transaction })).toMatchObject(accepted)
  })

  it('between stores names no account in its arguments: the primary stores are recomputed', async () => {
    const [mine, theirs] = storesOf(usdt)
    expect(await scene.verify({ transaction: await betweenStores(mine, theirs, 10_000n) })).toMatchObject(
      accepted,
    )
  })

  it('counts up to the surplus that was paid', async () => {
    const transaction = await scene.pay(12_000n)
    expect(await scene.verify({ transaction })).toMatchObject({ isValid: true, amount: 12_000n })
  })

  it('is recognized when the node drops leading zeros of addresses', async () => {
    scene.chain.writeAddresses(strippedForm)
    try {
      expect(await scene.verify({ transaction: await scene.pay() })).toMatchObject(accepted)
    } finally {
      scene.chain.writeAddresses(standardForm)
    }
  })
})

describe('refused on Aptos', () => {
  const refusals: ByReason<() => Promise<Parameters<Scene['verify']>[0]>> = {
    transaction_not_found: {
      'a hash that the chain does not know': async () => ({
        transaction: `0x${'9'.repeat(64)}`,
      }),
    },
    insufficient_amount: {
      'one unit too little': async () => ({ transaction: await scene.pay(9_999n) }),
      'an amount that is smaller as a number but not as text': async () => ({
        transaction: await scene.pay(999_999n),
        amount: 1_000_000n,
      }),
      'an asset whose hook deposits less than was withdrawn': async () => {
        scene.chain.ledger.assets.set(usdt, { hookFee: 1n })
        const transaction = await scene.pay()
        scene.chain.ledger.assets.set(usdt, { hookFee: 0n })
        return { transaction }
      },
      'a deposit of which the sender paid a part': async () => ({
        transaction: await runProgram('partly', ({ withdraw, deposit, primaryStore }) => {
          withdraw(primaryStore(scene.from, usdt), 1n)
          withdraw(primaryStore(vault, usdt), 9_999n)
          deposit(primaryStore(scene.payTo, usdt), 10_000n)
        }),
      }),
    },
    recipient_mismatch: {
      'a transfer to another account': async () => ({
        transaction: await call(scene.chain, scene.payer, transferCall(usdt, scene.elsewhere, 10_000n)),
      }),
      'a deposit event of another module beside a withdrawal of the sender': async () => ({
        transaction: await runProgram('lookalikeDeposit', ({ withdraw, deposit, emit, primaryStore }) => {
          withdraw(primaryStore(scene.from, usdt), 10_000n)
          // First, so that it would take what the sender withdrew.
          emit({ type: '0xbad::fungible_asset::Deposit', store: storesOf(usdt)[1] ?? '', amount: 10_000n })
          deposit(primaryStore(scene.elsewhere, usdt), 10_000n)
        }),
      }),
    },
    asset_mismatch: {
      'a transfer of another asset with the same events': async () => ({
        transaction: await call(scene.chain, scene.payer, transferCall(otherAsset, scene.payTo, 10_000n)),
      }),
    },
    sender_mismatch: {
      'a transfer that another account claims as its own': async () => ({
        transaction: await scene.pay(),
        from: scene.elsewhere,
      }),
    },
    transaction_failed: {
      'a Move abort, which has a version and success false': async () => ({
        transaction: await scene.pay(999_000_000_000n),
      }),
      'a frozen store, which aborts': async () => {
        const store = scene.chain.ledger.openPrimaryStore(scene.payTo, usdt)
        store.isFrozen = true
        const transaction = await scene.pay()
        scene.chain.ledger.openPrimaryStore(scene.payTo, usdt).isFrozen = false
        return { transaction }
      },
    },
    transaction_too_old: {
      'a transfer older than maxTimeoutSeconds': async () => {
        const transaction = await scene.pay()
        scene.clock.shift(70_000)
        return { transaction, maxTimeoutSeconds: 60 }
      },
    },
    no_matching_transfer: {
      'a deposit in a secondary store': async () => {
        scene.chain.ledger.openStore(secondary, scene.payTo, usdt)
        return { transaction: await betweenStores(storesOf(usdt)[0], secondary, 10_000n) }
      },
      'a withdrawal from a secondary store': async () => {
        const own = `0x${'a2'.repeat(32)}`
        scene.chain.ledger.openStore(own, scene.from, usdt).balance = 10_000n
        return { transaction: await betweenStores(own, storesOf(usdt)[1], 10_000n) }
      },
      'a successful transaction that moves nothing, as a multisig whose inner call failed': async () => ({
        transaction: await runProgram('multisig', () => {}),
      }),
      'a withdrawal event of another module beside a deposit': async () => ({
        transaction: await runProgram('lookalikeWithdrawal', ({ withdraw, deposit, emit, primaryStore }) => {
          emit({ type: '0xbad::fungible_asset::Withdraw', store: storesOf(usdt)[0] ?? '', amount: 10_000n })
          withdraw(primaryStore(vault, usdt), 10_000n)
          deposit(primaryStore(scene.payTo, usdt), 10_000n)
        }),
      }),
      'events of the same name from another module': async () => ({
        transaction: await runProgram('lookalike', ({ emit }) => {
          const [mine = '', theirs = ''] = storesOf(usdt)
          emit({ type: '0xbad::fungible_asset::Withdraw', store: mine, amount: 10_000n })
          emit({ type: '0xbad::fungible_asset::Deposit', store: theirs, amount: 10_000n })
        }),
      }),
      'a deposit that another account than the sender paid for': async () => ({
        transaction: await runProgram('vault', ({ withdraw, deposit, primaryStore }) => {
          withdraw(primaryStore(vault, usdt), 10_000n)
          deposit(primaryStore(scene.payTo, usdt), 10_000n)
        }),
      }),
      'a deposit that is withdrawn again in the same transaction': async () => ({
        transaction: await runProgram('roundTrip', ({ withdraw, deposit, primaryStore }) => {
          withdraw(primaryStore(scene.from, usdt), 10_000n)
          deposit(primaryStore(scene.payTo, usdt), 10_000n)
          withdraw(primaryStore(scene.payTo, usdt), 10_000n)
          deposit(primaryStore(scene.from, usdt), 10_000n)
        }),
      }),
    },
    self_payment: {
      'a payment to oneself': async () => ({
        transaction: await scene.pay(),
        payTo: scene.from,
      }),
    },
    unsupported_asset: {
      'an asset that is not settled': async () => ({
        transaction: await scene.pay(),
        asset: otherAsset,
      }),
    },
  }

  it.each(listByReason(refusals))('is %s: %s', async (_, reason, prepare) => {
    expect(await scene.verify(await prepare())).toMatchObject({ isValid: false, reason })
  })

  it.each(escrowPrograms)('is a deposit of an escrow %s', async (_, program) => {
    const name = `escrow${escrowPrograms.findIndex(([, each]) => each === program)}`
    const transaction = await runProgram(name, program)
    const verdict = await scene.verify({ transaction })
    expect(verdict).toMatchObject({
      isValid: false,
      reason: expect.stringMatching(/^(no_matching_transfer|recipient_mismatch)$/),
    })
  })

  it.each([
    ['another asset', otherAsset, 'asset_mismatch'],
    ['no address', '0xZZ', 'invalid_payload_structure'],
    ['a number', 7, 'invalid_payload_structure'],
  ])('is a payload whose metadataAddress is %s', async (_, metadataAddress, reason) => {
    const transaction = await scene.pay()
    expect(await scene.verify({ transaction, metadataAddress })).toMatchObject({ reason })
  })

  it('is a transaction that waits: not final until it is committed', async () => {
    scene.chain.pause()
    try {
      const transaction = await submitCall(scene.chain, scene.payer, transferCall(usdt, scene.payTo, 10_000n))
      expect(await scene.verify({ transaction })).toMatchObject({ reason: 'transaction_not_final' })
      scene.chain.mine()
      expect(await scene.verify({ transaction })).toMatchObject(accepted)
    } finally {
      scene.chain.resume()
    }
  })
})
