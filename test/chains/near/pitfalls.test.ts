import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type ByReason, listByReason } from '../../support/byReason.js'
import { transferLog } from '../../support/near/contracts.js'
import {
  contractCall,
  type NearTerms,
  send,
  sendRelayed,
  transferAndCall,
  transferCall,
} from '../../support/near/payment.js'
import { pollUntil } from '../../support/pollUntil.js'
import { useScene } from '../../support/useScene.js'
import { amount, openScene, otherTokenId, tokenId } from './scene.js'

const scene = useScene(openScene)
let payTo: string

beforeAll(async () => {
  payTo = scene.addMerchant()
})
afterEach(() => {
  scene.proxy.clearFaults()
  scene.chain.setPaused(false)
  scene.chain.ledger.setFinalityHeld(false)
})

interface Refused {
  readonly pay: () => Promise<string>
  readonly terms?: () => Partial<NearTerms>
  readonly from?: () => string
}

const tooMuch = 10n ** 18n

const refused: ByReason<Refused> = {
  transaction_failed: {
    'the transfer failed': { pay: () => scene.pay([transferCall({ to: payTo, amount: tooMuch })]) },
    'the deposit of one yoctoNEAR is missing': {
      pay: () => scene.pay([transferCall({ to: payTo, amount }, 0n)]),
    },
    'the recipient is not registered with the token': {
      pay: () => scene.pay([transferCall({ to: 'unregistered.testnet', amount })]),
      terms: () => ({ payTo: 'unregistered.testnet' }),
    },
    'a contract succeeded without waiting for its transfer, which failed': {
      pay: () =>
        scene.pay(
          [contractCall('pay_detached', { token: tokenId, to: payTo, amount: `${tooMuch}` })],
          'payer-contract.testnet',
        ),
    },
    'a later action of the same receipt failed: the log of the first remains, its transfer is reverted': {
      pay: () =>
        scene.pay([transferCall({ to: payTo, amount }), transferCall({ to: payTo, amount: tooMuch })]),
    },
    'it calls an account without a contract': {
      pay: () => scene.pay([transferCall({ to: payTo, amount })], scene.addMerchant()),
    },
  },
  insufficient_amount: {
    'the receiving contract returned everything': {
      pay: () => scene.pay([transferAndCall({ to: 'refunder.testnet', amount })]),
      terms: () => ({ payTo: 'refunder.testnet' }),
    },
    'the receiving contract returned half of it': {
      pay: () => scene.pay([transferAndCall({ to: 'halver.testnet', amount })]),
      terms: () => ({ payTo: 'halver.testnet' }),
    },
    'the amount is smaller, and greater as text': {
      pay: () => scene.pay([transferCall({ to: payTo, amount: 9_999n })]),
    },
  },
  asset_mismatch: {
    'another contract printed the event of the transfer': {
      pay: () => {
        const event = { old_owner_id: scene.payer.id, new_owner_id: payTo, amount: `${amount}` }
        return scene.pay([contractCall('print', { logs: [transferLog(event)] })], 'printer.testnet')
      },
    },
    'it pays in another token': { pay: () => scene.pay([transferCall({ to: payTo, amount })], otherTokenId) },
  },
  sender_mismatch: {
    'a contract that the payer called paid from its own balance': {
      pay: () =>
        scene.pay(
          [contractCall('pay', { token: tokenId, to: payTo, amount: `${amount}` })],
          'payer-contract.testnet',
        ),
    },
    'another account made the transfer': {
      pay: () => send(scene.addPayer('bob'), tokenId, [transferCall({ to: payTo, amount })]),
    },
    'the relayer of a delegated transfer claims to be its payer': {
      pay: () =>
        sendRelayed(scene.addPayer('bob'), scene.payer, tokenId, [transferCall({ to: payTo, amount })]),
    },
  },
  no_matching_transfer: {
    'the contract that paid is claimed as the payer: any caller could claim it': {
      pay: () =>
        scene.pay(
          [contractCall('pay', { token: tokenId, to: payTo, amount: `${amount}` })],
          'payer-contract.testnet',
        ),
      from: () => 'payer-contract.testnet',
    },
    'it transfers nothing at all': {
      pay: () => scene.pay([contractCall('storage_deposit', { account_id: payTo })]),
    },
  },
  recipient_mismatch: {
    'it pays another account': { pay: () => scene.pay([transferCall({ to: scene.addMerchant(), amount })]) },
  },
  memo_mismatch: {
    'a required memo is missing': {
      pay: () => scene.pay([transferCall({ to: payTo, amount })]),
      terms: () => ({ extra: { memo: 'order-7' } }),
    },
    'the memo is another one': {
      pay: () => scene.pay([transferCall({ to: payTo, amount, memo: 'order-8' })]),
      terms: () => ({ extra: { memo: 'order-7' } }),
    },
  },
  transaction_not_found: {
    'no node knows the transaction': { pay: async () => '8SPtuqh1t1yRRbBCXvsuAmkx8tZJjLJjtpEoFLrnPkKF' },
  },
}

describe('a payment on NEAR is refused', () => {
  it.each(listByReason(refused))('when %s, as %s', async (_when, reason, { pay, terms, from }) => {
    const body = scene.bodyOf(await pay(), { payTo, ...terms?.() }, from?.())
    expect(await scene.verify(body)).toMatchObject({ isValid: false, reason })
  })

  it('when it is older than maxTimeoutSeconds, by the time of its block', async () => {
    const txHash = await scene.pay([transferCall({ to: payTo, amount })])
    const body = scene.bodyOf(txHash, { payTo, maxTimeoutSeconds: 60 })
    expect(await scene.verify(body)).toMatchObject({ isValid: true })
    scene.clock.shift(70_000)
    try {
      expect(await scene.verify(body)).toMatchObject({ isValid: false, reason: 'transaction_too_old' })
    } finally {
      scene.clock.shift(-70_000)
    }
  })

  it('while its block is not final, as transaction_not_final, before the request times out', async () => {
    scene.chain.ledger.setFinalityHeld(true)
    const txHash = await send(scene.payer, tokenId, [transferCall({ to: payTo, amount })], 'INCLUDED')
    const body = scene.bodyOf(txHash, { payTo })
    expect(await scene.verify(body)).toMatchObject({ isValid: false, reason: 'transaction_not_final' })
    scene.chain.ledger.setFinalityHeld(false)
  })

  it('while only its receipts are not final', async () => {
    scene.chain.setPaused(true)
    const txHash = await send(scene.payer, tokenId, [transferCall({ to: payTo, amount })], 'NONE')
    const body = scene.bodyOf(txHash, { payTo })
    const reasons: unknown[] = []
    for (let block = 0; block < 6; block += 1) {
      const found = await scene.verify(body)
      reasons.push(found.isValid ? 'valid' : found.reason)
      scene.chain.mine()
    }
    expect(reasons).toEqual(['transaction_not_found', ...Array(4).fill('transaction_not_final'), 'valid'])
  })

  it('when a node reports it as final before its block is', async () => {
    const txHash = await scene.pay([transferCall({ to: payTo, amount })])
    const body = scene.bodyOf(txHash, { payTo })
    const before = { header: { hash: '1'.repeat(32), height: 1, timestamp_nanosec: `${Date.now()}000000` } }
    scene.proxy.setFault('block', {
      kind: 'tamper',
      change: (block, [params]) => (JSON.stringify(params).includes('finality') ? before : block),
    })
    expect(await scene.verify(body)).toMatchObject({ isValid: false, reason: 'transaction_not_final' })
  })
})

describe('a payment on NEAR is accepted', () => {
  it.each([
    [
      'as ft_transfer with any memo',
      () => scene.pay([transferCall({ to: payTo, amount, memo: 'hello' })]),
      {},
    ],
    [
      'as ft_transfer with the required memo',
      () => scene.pay([transferCall({ to: payTo, amount, memo: 'order-7' })]),
      { extra: { memo: 'order-7' } },
    ],
    [
      'as ft_transfer_call that the receiver keeps',
      () => scene.pay([transferAndCall({ to: 'receiver.testnet', amount })]),
      { payTo: 'receiver.testnet' },
    ],
    [
      'as two transfers in one transaction, which are added up',
      () =>
        scene.pay([transferCall({ to: payTo, amount: 4_000n }), transferCall({ to: payTo, amount: 6_000n })]),
      {},
    ],
    [
      'as a transfer that a relayer sent for the payer (NEP-366)',
      () => sendRelayed(scene.payer, scene.addPayer('relay'), tokenId, [transferCall({ to: payTo, amount })]),
      {},
    ],
  ])('%s', async (_, pay, terms) => {
    const body = scene.bodyOf(await pay(), { payTo, ...terms })
    expect(await scene.verify(body)).toMatchObject({ isValid: true, payer: scene.payer.id, amount })
    expect(await scene.settle(body)).toMatchObject({ state: 'confirmed', settledAmount: amount })
  })

  it('with the surplus counted', async () => {
    const body = scene.bodyOf(await scene.pay([transferCall({ to: payTo, amount: amount + 5n })]), { payTo })
    expect(await scene.verify(body)).toMatchObject({ isValid: true, amount: amount + 5n })
  })

  it('by settle, which waits until it is final', async () => {
    scene.chain.ledger.setFinalityHeld(true)
    const txHash = await send(scene.payer, tokenId, [transferCall({ to: payTo, amount })], 'INCLUDED')
    let isAnswered = false
    const asked = scene.proxy.calls.length
    const settling = scene.settle(scene.bodyOf(txHash, { payTo })).finally(() => {
      isAnswered = true
    })
    // Each round of settle asks several times at most.
    await pollUntil(() => scene.proxy.calls.length > asked + 20, 'rounds without finality')
    expect(isAnswered).toBe(false)
    scene.chain.ledger.setFinalityHeld(false)
    expect(await settling).toMatchObject({ state: 'confirmed', transaction: txHash })
  })
})

describe('the stand-in node', () => {
  it('refuses a forged signature and a used nonce, and moves tokens only when a receipt succeeds', async () => {
    const before = scene.token.balanceOf(payTo)
    const { account } = scene.payer
    const signed = await account.createSignedTransaction({
      receiverId: tokenId,
      actions: [transferCall({ to: payTo, amount })],
    })
    const forged = await account.createSignedTransaction({
      receiverId: tokenId,
      actions: [transferCall({ to: payTo, amount: amount * 2n })],
    })
    await expect(
      account.provider.sendTransactionUntil(
        Object.assign(Object.create(Object.getPrototypeOf(forged)), forged, { signature: signed.signature }),
        'NONE',
      ),
    ).rejects.toThrow(/signature/i)
    await account.provider.sendTransactionUntil(signed, 'FINAL')
    expect(scene.token.balanceOf(payTo) - before).toBe(amount)
  })
})
