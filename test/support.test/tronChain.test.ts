import { TronWeb } from 'tronweb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTronKey } from '../support/tron/keys.js'
import { signTransfer } from '../support/tron/payment.js'
import { startTronChain, type TronChain } from '../support/tron/tronChain.js'

let chain: TronChain
let token: string

beforeAll(async () => {
  chain = await startTronChain({ blockTimeMs: null })
  token = await chain.deploy('TetherTrc20')
})
afterAll(() => chain.stop())

const openPayer = async () => {
  const payer = createTronKey()
  chain.fund(payer.address, 100_000_000)
  await chain.mint(token, payer.address, 50_000n)
  await chain.mine()
  const tronWeb = new TronWeb({ fullHost: chain.url, privateKey: payer.privateKey })
  return { payer, tronWeb }
}

/** Unmodified tronweb: if it works, the responses have the form of TRON nodes. */
describe('tronweb on the test chain', () => {
  it('transfers TRX', async () => {
    const { tronWeb } = await openPayer()
    const to = createTronKey().address
    const sent = await tronWeb.trx.sendTransaction(to, 5_000_000)
    expect(sent.result).toBe(true)
    await chain.mine()
    expect(await tronWeb.trx.getBalance(to)).toBe(5_000_000)
  })

  it('builds, signs and sends a token transfer', async () => {
    const { payer, tronWeb } = await openPayer()
    const payTo = createTronKey().address
    const { signedTransaction } = await signTransfer({ chain, payer, payTo, token, amount: 20_000n })
    const sent = await tronWeb.trx.sendHexTransaction(signedTransaction)
    expect(sent).toMatchObject({ result: true })
    await chain.mine()
    expect(await chain.balanceOf(token, payTo)).toBe(20_000n)
    const id = String(Reflect.get(sent, 'txid'))
    const info = await tronWeb.trx.getUnconfirmedTransactionInfo(id)
    expect(info).toMatchObject({ id, receipt: { result: 'SUCCESS' } })
    // Like Tether's: returns false although it succeeded.
    expect(info.contractResult).toEqual(['0'.repeat(64)])
    expect(await tronWeb.trx.getTransactionInfo(id)).toEqual({})
    await chain.mine(19)
    expect(await tronWeb.trx.getTransactionInfo(id)).toMatchObject({ id })
  })

  it('calls a contract without a transaction', async () => {
    const { payer, tronWeb } = await openPayer()
    const answer = await tronWeb.transactionBuilder.triggerConstantContract(
      token,
      'balanceOf(address)',
      {},
      [{ type: 'address', value: payer.address }],
      payer.hexAddress,
    )
    expect(BigInt(`0x${answer.constant_result[0]}`)).toBe(50_000n)
  })

  it('delegates energy and undelegates it', async () => {
    const { payer, tronWeb } = await openPayer()
    const friend = createTronKey()
    chain.fund(friend.address, 1)
    chain.stake(payer.address, 10_000_000)
    const { trx, transactionBuilder } = tronWeb
    const loan = await transactionBuilder.delegateResource(5_000_000, friend.address, 'ENERGY', payer.address)
    expect((await trx.sendRawTransaction(await trx.sign(loan))).result).toBe(true)
    await chain.mine()
    expect((await trx.getAccountResources(friend.address)).EnergyLimit).toBe(50)
    const back = await transactionBuilder.undelegateResource(
      5_000_000,
      friend.address,
      'ENERGY',
      payer.address,
    )
    expect((await trx.sendRawTransaction(await trx.sign(back))).result).toBe(true)
    await chain.mine()
    expect((await trx.getAccountResources(friend.address)).EnergyLimit).toBeUndefined()
  })

  it.each([
    ['DUP_TRANSACTION_ERROR', {}, true],
    ['TAPOS_ERROR', { refBlockHash: 'de'.repeat(8) }, false],
    ['TRANSACTION_EXPIRATION_ERROR', { lifetimeMs: -60_000 }, false],
  ])('is rejected with %s as by a node', async (code, fields, isTwice) => {
    const { payer, tronWeb } = await openPayer()
    const options = { chain, payer, payTo: createTronKey().address, token, amount: 1n }
    const { signedTransaction } = await signTransfer(options, fields)
    if (isTwice) await tronWeb.trx.sendHexTransaction(signedTransaction)
    expect(await tronWeb.trx.sendHexTransaction(signedTransaction)).toMatchObject({ code })
  })

  it('sees an out-of-energy transaction in its block, without a transfer', async () => {
    const { payer, tronWeb } = await openPayer()
    const payTo = createTronKey().address
    const options = { chain, payer, payTo, token, amount: 1n }
    const { signedTransaction } = await signTransfer(options, { feeLimit: 100_000 })
    const sent = await tronWeb.trx.sendHexTransaction(signedTransaction)
    await chain.mine()
    const info = await tronWeb.trx.getUnconfirmedTransactionInfo(String(Reflect.get(sent, 'txid')))
    expect(info).toMatchObject({ result: 'FAILED', receipt: { result: 'OUT_OF_ENERGY' } })
    expect(await chain.balanceOf(token, payTo)).toBe(0n)
  })
})

describe('reorged blocks', () => {
  it('revert transfers, and a solid block is not reorged', async () => {
    const { payer, tronWeb } = await openPayer()
    const payTo = createTronKey().address
    const { signedTransaction } = await signTransfer({ chain, payer, payTo, token, amount: 1n })
    await tronWeb.trx.sendHexTransaction(signedTransaction)
    await chain.mine()
    await chain.ledger.reorganize(1, 'dropped')
    expect(await chain.balanceOf(token, payTo)).toBe(0n)
    await expect(chain.ledger.reorganize(25, 'dropped')).rejects.toThrow('solidified')
  })
})
