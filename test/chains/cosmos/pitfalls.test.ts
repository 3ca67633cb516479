import { TxRaw } from 'cosmjs-types/cosmos/tx/v1beta1/tx'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ByReason, listByReason } from '../../support/byReason.js'
import {
  type CosmosTerms,
  execMessage,
  multiSendMessage,
  send,
  sendMessage,
  sign,
  submit,
} from '../../support/cosmos/payment.js'
import { decode, encode } from '../../support/cosmos/protobuf.js'
import { hashOf } from '../../support/cosmos/transaction.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { useScene } from '../../support/useScene.js'
import { amount, openScene, voucher } from './scene.js'

const scene = useScene(openScene)
let payTo: string

beforeAll(async () => {
  payTo = await scene.addMerchant()
})
afterEach(() => {
  scene.proxy.clearFaults()
  scene.chain.setPaused(false)
  // Empties the mempool.
  scene.chain.mine()
  scene.chain.setIndexing(true)
  scene.chain.ledger.bank.unblock(payTo)
})

interface Refused {
  readonly pay: () => Promise<string>
  readonly terms?: () => Partial<CosmosTerms>
  readonly from?: () => string
}

const tooMuch = 10n ** 15n
const transfer = (to = payTo, paid = amount, denom?: string) =>
  sendMessage({ from: scene.payer.address, to, amount: paid, ...(denom === undefined ? {} : { denom }) })

/** Another account may spend the payer's funds (authz). */
const payByGrant = async (): Promise<string> => {
  const grantee = await scene.addPayer()
  scene.chain.ledger.bank.grant(scene.payer.address, grantee.address)
  return await send(grantee, [execMessage(grantee.address, { from: scene.payer.address, to: payTo, amount })])
}

const refused: ByReason<Refused> = {
  transaction_failed: {
    'it failed in its block, with the transfer event of the fee': {
      pay: () => send(scene.payer, [transfer(payTo, tooMuch)]),
    },
    'it ran out of gas': { pay: () => send(scene.payer, [transfer()], { gas: '60000' }) },
    'its issuer blocked the recipient': {
      pay: () => {
        scene.chain.ledger.bank.block(payTo)
        return send(scene.payer, [transfer()])
      },
    },
    'one of its messages failed, so all did': {
      pay: () => send(scene.payer, [transfer(), transfer(payTo, tooMuch)]),
    },
  },
  no_matching_transfer: {
    'a grantee moved the funds: the payer signed nothing (authz)': { pay: payByGrant },
  },
  sender_mismatch: {
    'another account made the transfer': {
      pay: async () => {
        const other = await scene.addPayer()
        return await send(other, [sendMessage({ from: other.address, to: payTo, amount })])
      },
    },
  },
  recipient_mismatch: {
    'it pays another account': { pay: async () => send(scene.payer, [transfer(await scene.addMerchant())]) },
  },
  asset_mismatch: {
    'it pays in another denomination, such as a voucher of another chain': {
      pay: () => send(scene.payer, [transfer(payTo, amount, voucher)]),
    },
    'only the fee was paid in the asset': {
      pay: () => send(scene.payer, [transfer(payTo, 20_000n, voucher)]),
      terms: () => ({ amount: 20_000n }),
    },
  },
  insufficient_amount: {
    'the amount is smaller, and greater as text': { pay: () => send(scene.payer, [transfer(payTo, 9_999n)]) },
  },
  memo_mismatch: {
    'a required memo is missing': {
      pay: () => send(scene.payer, [transfer()]),
      terms: () => ({ extra: { memo: 'order-7' } }),
    },
    'the memo is another one': {
      pay: () => send(scene.payer, [transfer()], { memo: 'order-8' }),
      terms: () => ({ extra: { memo: 'order-7' } }),
    },
  },
  transaction_not_found: {
    'no block holds it': { pay: async () => 'F'.repeat(64) },
    'it waits in the mempool': {
      pay: async () => {
        scene.chain.setPaused(true)
        return await submit(scene.payer, await sign(scene.payer, [transfer()]))
      },
    },
  },
}

describe('a payment on a Cosmos chain is refused', () => {
  it.each(listByReason(refused))('when %s, as %s', async (_when, reason, { pay, terms, from }) => {
    const body = scene.bodyOf(await pay(), { payTo, ...terms?.() }, from?.())
    expect(await scene.verify(body)).toMatchObject({ isValid: false, reason })
  })

  it('when it is older than maxTimeoutSeconds, by the time of its block', async () => {
    const body = scene.bodyOf(await scene.pay(payTo), { payTo, maxTimeoutSeconds: 60 })
    expect(await scene.verify(body)).toMatchObject({ isValid: true })
    scene.clock.shift(70_000)
    try {
      expect(await scene.verify(body)).toMatchObject({ isValid: false, reason: 'transaction_too_old' })
    } finally {
      scene.clock.shift(-70_000)
    }
  })

  it('when the payload names another denomination', async () => {
    const body = scene.bodyOf(await scene.pay(payTo), { payTo })
    const withDenom = (denom: unknown) => ({
      ...body,
      paymentPayload: { ...body.paymentPayload, payload: { ...body.paymentPayload.payload, denom } },
    })
    expect(await scene.verify(withDenom('uusdc'))).toMatchObject({ isValid: true })
    expect(await scene.verify(withDenom(voucher))).toMatchObject({ reason: 'asset_mismatch' })
    for (const denom of ['', 7, {}, 'x'.repeat(10_000)]) {
      expect(await scene.verify(withDenom(denom))).toMatchObject({ reason: 'invalid_payload_structure' })
    }
  })

  it('when the events of the message credit less than the message sends', async () => {
    const txHash = await scene.pay(payTo)
    scene.proxy.setFault('tx', {
      kind: 'tamper',
      change: (result) =>
        JSON.parse(JSON.stringify(result).replaceAll(`"${amount}uusdc"`, `"${amount - 1n}uusdc"`)),
    })
    expect(await scene.verify(scene.bodyOf(txHash, { payTo }))).toMatchObject({
      isValid: false,
      reason: 'no_matching_transfer',
    })
  })
})

describe('a Cosmos node is not believed', () => {
  const isOutage = async (txHash: string) => {
    expect(await rejectionOf(scene.verify(scene.bodyOf(txHash, { payTo })))).toMatchObject({
      operationalCode: 'SVC-2004',
    })
  }

  it('when it does not index transactions: that is no transaction_not_found', async () => {
    const txHash = await scene.pay(payTo)
    scene.chain.setIndexing(false)
    await isOutage(txHash)
    await isOutage('F'.repeat(64))
  })

  it('when it returns other bytes than those of the hash', async () => {
    const [txHash, other] = [await scene.pay(payTo, 1n), await scene.pay(payTo)]
    const valuable = scene.chain.ledger.findExecuted(other)
    const cheap = scene.chain.ledger.findExecuted(txHash)
    if (valuable === null || cheap === null) throw new Error('They were not executed')
    scene.chain.ledger.fabricate({ ...valuable, hash: txHash })
    await isOutage(txHash)
    scene.chain.ledger.fabricate(cheap)
  })

  it('when it reports a signed transaction that no block holds', async () => {
    const real = scene.chain.ledger.findExecuted(await scene.pay(payTo))
    if (real === null) throw new Error('It was not executed')
    const bytes = await sign(scene.payer, [transfer()], { memo: 'never sent' })
    scene.chain.ledger.fabricate({ ...real, bytes, hash: hashOf(bytes) })
    await isOutage(hashOf(bytes))
  })

  it('when it serves a block with a transaction that its sender did not sign', async () => {
    const { ledger } = scene.chain
    const real = ledger.findExecuted(await scene.pay(payTo))
    if (real === null) throw new Error('It was not executed')
    const raw = z
      .object({ body_bytes: z.instanceof(Uint8Array), auth_info_bytes: z.instanceof(Uint8Array) })
      .parse(decode('TxRaw', real.bytes))
    const forged = encode('TxRaw', { ...raw, signatures: [Buffer.alloc(64, 1)] })
    ledger.fabricateBlock(forged, real)
    await isOutage(hashOf(forged))
    // The same block with the sender's signature.
    const honest = await sign(scene.payer, [transfer()], { memo: 'held back' })
    ledger.fabricateBlock(honest, real)
    expect(await scene.verify(scene.bodyOf(hashOf(honest), { payTo }))).toMatchObject({ isValid: true })
  })

  it.each([
    ['a proof for another place', { total: '2', index: '0', aunts: [] }],
    ['a proof with a place outside of the tree', { total: '1', index: '1', aunts: [] }],
    [
      'a proof with an aunt too many',
      { total: '1', index: '0', aunts: [Buffer.alloc(32).toString('base64')] },
    ],
    ['a proof with a short aunt', { total: '2', index: '0', aunts: [Buffer.alloc(31).toString('base64')] }],
    ['no proof', undefined],
  ])('when it sends %s', async (_, proof) => {
    const txHash = await scene.pay(payTo)
    scene.proxy.setFault('tx', {
      kind: 'tamper',
      change: (result) => ({ ...Object(result), proof: proof === undefined ? undefined : { proof } }),
    })
    await isOutage(txHash)
  })

  it.each([
    ['of another chain', { chain_id: 'noble-1' }],
    ['of another height', { height: '1' }],
    ['without a time', { time: 'yesterday' }],
    ['with other transactions', { data_hash: 'AB'.repeat(32) }],
  ])('when the header is one %s', async (_, changes) => {
    const txHash = await scene.pay(payTo)
    scene.proxy.setFault('commit', {
      kind: 'tamper',
      change: (result) => {
        const { signed_header, ...rest } = Object(result)
        return { ...rest, signed_header: { header: { ...signed_header.header, ...changes } } }
      },
    })
    await isOutage(txHash)
  })
})

describe('a payment on a Cosmos chain is accepted', () => {
  it.each([
    ['as MsgSend with any memo', () => scene.pay(payTo, amount, 'hello'), {}],
    [
      'as MsgSend with the required memo',
      () => scene.pay(payTo, amount, 'order-7'),
      { extra: { memo: 'order-7' } },
    ],
    [
      'as several messages of one transaction, which are added up',
      async () =>
        send(scene.payer, [
          transfer(payTo, 4_000n),
          transfer(await scene.addMerchant(), 5n),
          transfer(payTo, 6_000n),
        ]),
      {},
    ],
    [
      'as MsgMultiSend with one sender',
      async () =>
        send(scene.payer, [
          multiSendMessage(scene.payer.address, [
            { to: payTo, amount: 4_000n },
            { to: await scene.addMerchant(), amount: 5_000n },
            { to: payTo, amount: 6_000n },
          ]),
        ]),
      {},
    ],
  ])('%s', async (_, pay, terms) => {
    const body = scene.bodyOf(await pay(), { payTo, ...terms })
    expect(await scene.verify(body)).toMatchObject({ isValid: true, payer: scene.payer.address, amount })
    expect(await scene.settle(body)).toMatchObject({ state: 'confirmed', settledAmount: amount })
  })

  it('whatever the spelling of the hash, as one payment', async () => {
    const txHash = await scene.pay(payTo)
    const spellings = [txHash, txHash.toLowerCase(), `0x${txHash}`].map((each) =>
      scene.bodyOf(each, { payTo }),
    )
    const found = await Promise.all(spellings.map(scene.verify))
    expect(new Set(found.map((each) => (each.isValid ? each.authorizationId : null))).size).toBe(1)
    expect(found[0]).toMatchObject({ isValid: true })
  })

  it('in a block of many transactions, at each place', async () => {
    const payers = await Promise.all(Array.from({ length: 5 }, scene.addPayer))
    scene.chain.setPaused(true)
    const hashes: string[] = []
    for (const payer of payers) {
      const message = sendMessage({ from: payer.address, to: payTo, amount })
      hashes.push(await submit(payer, await sign(payer, [message])))
    }
    scene.chain.mine()
    const heights = hashes.map((hash) => scene.chain.ledger.findExecuted(hash)?.height)
    expect(new Set(heights).size).toBe(1)
    for (const [index, payer] of payers.entries()) {
      const body = scene.bodyOf(hashes[index] ?? '', { payTo }, payer.address)
      expect(await scene.verify(body)).toMatchObject({ isValid: true })
    }
  })
})

describe('the stand-in node', () => {
  it('refuses a used sequence, a signature for another chain and a fee that is too low', async () => {
    const { client, address } = scene.payer
    const fee = { amount: [{ denom: 'uusdc', amount: '20000' }], gas: '200000' }
    const account = await client.getSequence(address)
    const messages = [transfer()]
    const submitSigned = async (signed: Promise<TxRaw>) =>
      client.broadcastTxSync(TxRaw.encode(await signed).finish())
    await expect(
      submitSigned(
        client.sign(address, messages, fee, 'again', {
          ...account,
          sequence: account.sequence - 1,
          chainId: 'grand-1',
        }),
      ),
    ).rejects.toThrow(/sequence mismatch/)
    await expect(
      submitSigned(client.sign(address, messages, fee, '', { ...account, chainId: 'noble-1' })),
    ).rejects.toThrow(/signature verification failed/)
    const cheap = { ...fee, amount: [{ denom: 'uusdc', amount: '1' }] }
    await expect(submitSigned(client.sign(address, messages, cheap, ''))).rejects.toThrow(/insufficient fee/)
  })

  it('moves what the ordinary client then reads', async () => {
    const recipient = await scene.addMerchant()
    await scene.pay(recipient)
    expect((await scene.payer.client.getBalance(recipient, 'uusdc')).amount).toBe(`${amount}`)
  })
})
