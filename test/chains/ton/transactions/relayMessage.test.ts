import { Cell } from '@ton/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodePayment } from '../../../../src/chains/ton/exact/decode.js'
import type { Prepared } from '../../../../src/chains/ton/exact/prepare.js'
import { chooseBatch } from '../../../../src/chains/ton/transactions/pendingRequests.js'
import {
  createRelayWallets,
  deriveRelayKey,
  readRelayExpiry,
  signRelayMessage,
} from '../../../../src/chains/ton/transactions/relayWallets.js'
import { Secret } from '../../../../src/platform/secret.js'
import { facilitatorMnemonic } from '../../../support/ton/facilitatorMnemonic.js'
import { sponsoredPayment } from '../../../support/ton/payment.js'
import { findRelayWallets, fundRelayWallets } from '../../../support/ton/relayWallets.js'
import { startTonChain, type TonChain } from '../../../support/ton/tonChain.js'
import { randomAddress } from '../../../support/ton/wallets.js'

let chain: TonChain
beforeAll(async () => {
  chain = await startTonChain()
})
afterAll(() => chain.stop())

const prepare = async (payTo = randomAddress()): Promise<{ readonly prepared: Prepared }> => {
  const wallet = await chain.createPayer({ nanoTon: 0n, isDeployed: false })
  const { payload } = (await sponsoredPayment({ chain, wallet, payTo })).paymentPayload
  const decoding = decodePayment({ settlementBoc: String(payload.settlementBoc), asset: '' })
  if ('refusedAs' in decoding) throw new Error(decoding.refusedAs)
  const { decoded } = decoding
  return { prepared: { decoded, payer: wallet.address, asset: chain.token.master, isDeployed: false } }
}

const openWallet = async () => {
  const key = await deriveRelayKey(new Secret(facilitatorMnemonic))
  const [wallet] = createRelayWallets(key, chain.globalId, 1)
  if (wallet === undefined) throw new Error('No wallet was created')
  return wallet
}

const send = async (boc: string): Promise<boolean> => {
  const body = JSON.stringify({ id: 1, method: 'sendBoc', params: { boc } })
  return (await fetch(chain.url, { method: 'POST', body })).ok
}

describe('the relay wallets', () => {
  it('have the addresses that TON wallets derive from the same mnemonic', async () => {
    const wallets = createRelayWallets(await deriveRelayKey(new Secret(facilitatorMnemonic)), -239, 3)
    const expected = await findRelayWallets(-239, 3)
    expect(wallets.map(({ signer }) => signer)).toEqual(expected.map((address) => address.toRawString()))
  })
})

describe('a relay message', () => {
  /** More than one message holds, by their size. */
  let many: readonly Awaited<ReturnType<typeof prepare>>[] = []
  // A busy machine runs the virtual machine for a minute until their payers have funds, which is most of the time of a test.
  beforeAll(async () => {
    await fundRelayWallets(chain)
    many = await Promise.all(Array.from({ length: 60 }, () => prepare()))
  })

  it('with the maximum number of payments, each deploying a wallet, stays within the limits and pays all', async () => {
    const batch = chooseBatch(many, 100_000_000_000n)
    expect(batch.length).toBeGreaterThan(40)
    expect(batch.length).toBeLessThan(many.length)
    const wallet = await openWallet()
    const validUntil = chain.ledger.now() + 300
    const payments = batch.map(({ prepared }) => prepared)
    const { bytes } = await signRelayMessage(wallet, payments, { seqno: 0, validUntil, isDeployed: false })
    expect(readRelayExpiry(bytes)).toBe(validUntil)
    expect(Buffer.from(bytes, 'base64').length).toBeLessThan(65_536)
    expect(Cell.fromBase64(bytes).depth()).toBeLessThan(512)
    expect(await send(bytes)).toBe(true)
    const received = await Promise.all(
      payments.map(({ decoded }) => chain.token.balanceOf(decoded.transfer.destination)),
    )
    expect(new Set(received)).toEqual(new Set([1_000_000n]))
    // Without payments it only uses the seqno.
    const empty = await signRelayMessage(wallet, [], { seqno: 1, validUntil, isDeployed: true })
    expect(await send(empty.bytes)).toBe(true)
    expect(await send(empty.bytes)).toBe(false)
  })

  it('carries only payments that its wallet can fund, and one per payer', async () => {
    const waiting = await Promise.all([prepare(), prepare(), prepare()])
    const [first] = waiting
    expect(chooseBatch(waiting, 0n)).toEqual([])
    expect(chooseBatch(waiting, 180_000_000n)).toHaveLength(2)
    expect(chooseBatch(first === undefined ? [] : [first, first], 100_000_000_000n)).toHaveLength(1)
  })
})
