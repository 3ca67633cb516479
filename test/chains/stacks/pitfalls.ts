import { Cl } from '@stacks/transactions'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readDirectBody } from '../../support/directScheme.js'
import { type RpcProxy, startRpcProxy } from '../../support/rpcProxy.js'
import { routerSource, tokenSource, twoTokensSource, vaultSource } from '../../support/stacks/contracts.js'
import { createStacksKey, type StacksKey } from '../../support/stacks/keys.js'
import { type ProofOptions, stacksPayment, transfer } from '../../support/stacks/payment.js'
import { deployToken, mint, type StacksChain, startStacksChain } from '../../support/stacks/stacksChain.js'
import { openScheme, testnetEnvironment } from './openScheme.js'

/** Pitfalls of Stacks, with the real Clarity virtual machine. */

const price = 10_000n
const merchant = createStacksKey().address
const other = createStacksKey().address

let chain: StacksChain
let proxy: RpcProxy
let opened: Awaited<ReturnType<typeof openScheme>>
let payer: StacksKey
let stranger: StacksKey
let token: string
let otherToken: string
let twoTokens: string
let router: string
let vault: string

beforeAll(async () => {
  chain = await startStacksChain()
  token = await deployToken(chain)
  otherToken = await chain.deploy('other', tokenSource)
  twoTokens = await chain.deploy('two', twoTokensSource)
  router = await chain.deploy('router', routerSource(token))
  vault = await chain.deploy('vault', vaultSource(token))
  payer = chain.createFundedKey()
  stranger = chain.createFundedKey()
  for (const { address } of [payer, stranger]) {
    for (const each of [token, otherToken, twoTokens]) await mint(chain, each, address, 10n ** 9n)
  }
  await mint(chain, token, router, 10n ** 9n)
  proxy = await startRpcProxy(chain.url)
  opened = await openScheme(testnetEnvironment(proxy.url, token, otherToken, twoTokens))
})

afterAll(async () => {
  await opened.close()
  await proxy.stop()
  await chain.stop()
})

const confirm = () => {
  chain.ledger.mine()
  chain.ledger.mine()
}

const pay = async (options: Partial<Parameters<typeof transfer>[2]> = {}, key = payer): Promise<string> => {
  const transaction = await transfer(chain, key, { token, to: merchant, amount: price, ...options })
  confirm()
  return transaction
}

const call = async (contract: string, name: string, args: Parameters<StacksChain['call']>[3]) => {
  const transaction = await chain.call(payer, contract, name, args)
  confirm()
  return transaction
}

const toMerchant = (amount = price) => [Cl.uint(amount), Cl.principal(merchant)]

const proofOf = (transaction: string, options: Partial<ProofOptions> = {}) =>
  stacksPayment({ transaction, from: payer.address, payTo: merchant, token, amount: price, ...options })

const verify = async (transaction: string, options: Partial<ProofOptions> = {}, { scheme } = opened) => {
  const verdict = await scheme.verify(readDirectBody(proofOf(transaction, options)), {
    isAwaited: () => true,
  })
  return verdict.isValid ? 'valid' : verdict.reason
}

describe('a payment is accepted', () => {
  it('by a SIP-010 transfer, with and without 0x', async () => {
    const transaction = await pay()
    expect(await verify(transaction)).toBe('valid')
    expect(await verify(transaction, { payload: { txId: transaction } })).toBe('valid')
  })

  it('through another contract', async () => {
    expect(await verify(await call(router, 'pay', toMerchant()))).toBe('valid')
  })

  it('in parts, which add up', async () => {
    expect(await verify(await call(router, 'pay-twice', toMerchant(5_000n)))).toBe('valid')
  })

  it('on the second page of its events', async () => {
    const transaction = await call(router, 'pay-many', toMerchant())
    expect(await verify(transaction)).toBe('valid')
    const pages = proxy.calls.filter(({ method }) => method.endsWith(transaction))
    expect(pages.length).toBe(2)
  })

  it('to a contract', async () => {
    expect(await verify(await pay({ to: vault }), { payTo: vault })).toBe('valid')
  })
})

describe('what moved nothing to the merchant is refused', () => {
  it.each<[string, string, () => Promise<string>]>([
    ['a transfer that the contract refuses', 'transaction_failed', () => pay({ amount: 10n ** 15n })],
    ['a transfer that a post-condition stops', 'transaction_failed', () => pay({ allowed: 1n })],
    ['one unit too little', 'insufficient_amount', () => pay({ amount: price - 1n })],
    ['another token', 'asset_mismatch', () => pay({ token: otherToken })],
    ['another recipient', 'recipient_mismatch', () => pay({ to: other })],
    ["another account's transfer", 'sender_mismatch', () => pay({}, stranger)],
    [
      'an event that only describes a transfer',
      'no_matching_transfer',
      () => call(router, 'imitate', toMerchant()),
    ],
    ["a contract's own funds", 'no_matching_transfer', () => call(router, 'pay-from-here', toMerchant())],
    ['a mint', 'no_matching_transfer', () => call(token, 'mint', toMerchant())],
  ])('%s: %s', async (_, reason, make) => {
    expect(await verify(await make())).toBe(reason)
  })

  it("a contract's own funds, claimed for the contract", async () => {
    const transaction = await call(router, 'pay-from-here', toMerchant())
    expect(await verify(transaction, { from: router })).toBe('no_matching_transfer')
  })

  it('what the same transaction takes back', async () => {
    const transaction = await call(vault, 'pay-and-take-back', [Cl.uint(price)])
    expect(await verify(transaction, { payTo: vault })).toBe('insufficient_amount')
  })

  it('another token of the same contract', async () => {
    const named = await openScheme(testnetEnvironment(proxy.url, `${twoTokens}::usd`))
    const junk = await call(twoTokens, 'pay-junk', toMerchant())
    expect(await verify(junk, { token: twoTokens }, named)).toBe('asset_mismatch')
    const paid = await pay({ token: twoTokens })
    expect(await verify(paid, { token: twoTokens }, named)).toBe('valid')
    // Without its name it is not known which of the two is meant.
    expect(await verify(paid, { token: twoTokens })).toBe('asset_mismatch')
    expect(await verify(junk, { token: twoTokens })).toBe('asset_mismatch')
    await named.close()
  })
})

describe('finality', () => {
  it('an unknown id is transaction_not_found', async () => {
    // The proxy does not forward the status 404.
    const direct = await openScheme(testnetEnvironment(chain.url, token))
    expect(await verify('ab'.repeat(32), {}, direct)).toBe('transaction_not_found')
    await direct.close()
  })

  it('follows from confirmations', async () => {
    const transaction = await transfer(chain, payer, { token, to: merchant, amount: price })
    expect(await verify(transaction)).toBe('transaction_not_final')
    chain.ledger.mine()
    expect(await verify(transaction)).toBe('transaction_not_final')
    chain.ledger.mine()
    expect(await verify(transaction)).toBe('valid')
  })

  it('follows from Bitcoin blocks where the operator wants them', async () => {
    const environment = { ...testnetEnvironment(proxy.url, token), STACKS_BURN_CONFIRMATIONS_testnet: '1' }
    const strict = await openScheme(environment)
    const transaction = await pay()
    expect(await verify(transaction, {}, strict)).toBe('transaction_not_final')
    chain.ledger.mineBurnBlock()
    expect(await verify(transaction, {}, strict)).toBe('valid')
    await strict.close()
  })

  it.each(['isCanonical', 'isAnchored'] as const)('a block that is not %s proves nothing', async (flag) => {
    const transaction = await pay()
    const mined = chain.ledger.findMined(transaction)
    if (mined === null) throw new Error('It was not mined')
    mined[flag] = false
    expect(await verify(transaction)).toBe('transaction_not_final')
    mined[flag] = true
    expect(await verify(transaction)).toBe('valid')
  })

  it('a failure on an abandoned branch proves no failure', async () => {
    const transaction = await pay({ allowed: 1n })
    const mined = chain.ledger.findMined(transaction)
    if (mined === null) throw new Error('It was not mined')
    mined.isCanonical = false
    expect(await verify(transaction)).toBe('transaction_not_final')
  })

  it.each(['dropped_replace_by_fee', 'dropped_stale_garbage_collect', 'dropped_too_expensive'])(
    '%s is transaction_not_found',
    async (status) => {
      const transaction = await transfer(chain, payer, { token, to: merchant, amount: price })
      chain.ledger.drop(transaction, status)
      expect(await verify(transaction)).toBe('transaction_not_found')
    },
  )

  it('is too old by the time of its block', async () => {
    chain.warp(-400_000)
    const transaction = await pay()
    chain.warp(400_000)
    expect(await verify(transaction)).toBe('transaction_too_old')
  })
})

describe('memo', () => {
  it('is what the token prints', async () => {
    const transaction = await pay({ memo: 'order-7' })
    expect(await verify(transaction, { extra: { memo: 'order-7' } })).toBe('valid')
    expect(await verify(transaction, { extra: { memo: 'order-8' } })).toBe('memo_mismatch')
  })

  it('mismatches where the transfer has none, or where it is not certain whose it is', async () => {
    expect(await verify(await pay(), { extra: { memo: 'order-7' } })).toBe('memo_mismatch')
    const twice = await call(router, 'pay-twice', toMerchant(5_000n))
    expect(await verify(twice, { extra: { memo: 'order-7' } })).toBe('memo_mismatch')
  })
})

describe('the asset', () => {
  it('that the payload names must be that of the requirements', async () => {
    const transaction = await pay()
    expect(await verify(transaction, { payload: { contractAddress: token } })).toBe('valid')
    expect(await verify(transaction, { payload: { contractAddress: otherToken } })).toBe('asset_mismatch')
    expect(await verify(transaction, { payload: { contractAddress: 7 } })).toBe('invalid_payload_structure')
  })
})

describe('the API', () => {
  const pathOf = (transaction: string) => `/extended/v1/tx/${transaction}`
  const unavailable = { code: 'SERVICE_UNAVAILABLE' }

  it.each<[string, (found: Record<string, unknown>) => unknown]>([
    ['about another transaction', (found) => ({ ...found, tx_id: `0x${'00'.repeat(32)}` })],
    ['with an unknown status', (found) => ({ ...found, tx_status: 'accepted' })],
    [
      'with an amount that is no number',
      (found) => JSON.parse(JSON.stringify(found).replace('"10000"', '"1e9"')),
    ],
    ['without flags of its block', ({ canonical, ...found }) => found],
    ['with an unknown event', (found) => ({ ...found, events: [{ event_type: 'gift', event_index: 0 }] })],
  ])('that answers %s is out, and never says "not found"', async (_, change) => {
    const transaction = await pay()
    proxy.setFault(pathOf(transaction), {
      kind: 'tamper',
      change: (found) => (typeof found === 'object' && found !== null ? change({ ...found }) : found),
    })
    await expect(verify(transaction)).rejects.toMatchObject(unavailable)
    proxy.clearFaults()
  })

  it('that leaves out events is out', async () => {
    const transaction = await pay({ memo: 'order-7' })
    proxy.setFault(pathOf(transaction), {
      kind: 'tamper',
      change: (found) => (typeof found === 'object' && found !== null ? { ...found, events: [] } : found),
    })
    await expect(verify(transaction)).rejects.toThrow('incompletely')
    proxy.clearFaults()
  })

  it('is not asked for more events than a payment has', async () => {
    const transaction = await pay()
    proxy.setFault(pathOf(transaction), {
      kind: 'tamper',
      change: (found) =>
        typeof found === 'object' && found !== null ? { ...found, event_count: 1_000_000 } : found,
    })
    expect(await verify(transaction)).toBe('no_matching_transfer')
    proxy.clearFaults()
  })

  it('answers a look-up with two requests, once the token is known', async () => {
    const transaction = await pay()
    await verify(transaction)
    proxy.clearCalls()
    await verify(transaction)
    expect(proxy.calls.map(({ method }) => method)).toEqual(['/extended/v2/blocks', pathOf(transaction)])
  })
})
