import { encodeBuilderCodeSuffix, parseBuilderCodeSuffixFromCalldata } from '@x402/extensions'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { encodeBuilderCodes, readBuilderCodes } from '../../../../src/chains/evm/transactions/builderCodes.js'
import { plainPayment } from '../../../support/plainPayment.js'
import { openScene, type Scene } from '../scene.js'

const code = fc.stringMatching(/^[a-z0-9_]{1,32}$/)

describe('builder codes', () => {
  it('are encoded as the published package encodes them', () => {
    fc.assert(
      fc.property(
        fc.option(code),
        fc.option(code),
        fc.array(code, { maxLength: 10 }),
        (app, own, services) => {
          const expected = {
            ...(app === null ? {} : { a: app }),
            ...(own === null ? {} : { w: own }),
            ...(services.length === 0 ? {} : { s: services }),
          }
          const digits = encodeBuilderCodes(own, { app, services })
          if (Object.keys(expected).length === 0) expect(digits).toBe('')
          else expect(`0x${digits}`).toBe(encodeBuilderCodeSuffix(expected))
        },
      ),
    )
  })

  const read = (info: unknown, version: 1 | 2 = 2) =>
    readBuilderCodes(plainPayment({ version, extensions: { 'builder-code': { info } } }))

  it.each([
    ['an application and services', { a: 'shop', s: ['client', 'agent'] }, 'shop', ['client', 'agent']],
    ['one service as text', { s: 'client' }, null, ['client']],
    ['what has another form', { a: 'Shop', s: ['ok', 'not ok', 7, 'x'.repeat(33)] }, null, ['ok']],
    [
      'more than ten',
      { s: Array.from({ length: 2_000 }, (_, at) => `s${at}`) },
      null,
      Array.from({ length: 10 }, (_, at) => `s${at}`),
    ],
  ])('are read from %s', (_, info, app, services) => {
    expect(read(info)).toEqual({ app, services })
  })

  it.each([[undefined], [null], [[]], ['text'], [{}], [{ a: '', s: [] }]])('are none in %j', (info) => {
    expect(read(info)).toBeNull()
  })

  it('of version 1 do not name the application, which no signature confirms', () => {
    expect(read({ a: 'shop', s: ['client'] }, 1)).toEqual({ app: null, services: ['client'] })
  })

  describe('of a settlement', () => {
    let scene: Scene
    beforeAll(async () => {
      scene = await openScene()
    })
    afterEach(() => scene.reset())
    afterAll(() => scene.close())

    it('end the calldata of its transaction, and the recipient is credited', async () => {
      const service = await scene.open({ environment: { EVM_BUILDER_CODE: 'quittance' } })
      const { body, payTo } = await scene.plan()
      const extensions = { 'builder-code': { info: { a: 'shop', s: ['client'] } } }
      const paymentPayload = { ...body.paymentPayload, extensions }
      const { success, transaction } = await service.settle({ ...body, paymentPayload })
      expect(success).toBe(true)
      expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
      const { input } = await scene.chain.client.getTransaction({ hash: `0x${transaction.slice(2)}` })
      expect(parseBuilderCodeSuffixFromCalldata(input)).toEqual({ a: 'shop', w: 'quittance', s: ['client'] })
    })

    it('are ours alone in a batch', async () => {
      const service = await scene.open({ environment: { EVM_BUILDER_CODE: 'quittance' } })
      const plans = await Promise.all(Array.from({ length: 6 }, () => scene.plan()))
      const extensions = { 'builder-code': { info: { a: 'shop' } } }
      const answers = await Promise.all(
        plans.map(({ body }) =>
          service.settle({ ...body, paymentPayload: { ...body.paymentPayload, extensions } }),
        ),
      )
      expect(answers.map(({ success }) => success)).toEqual(plans.map(() => true))
      const hashes = answers.map(({ transaction }) => transaction)
      const shared = hashes.find((hash, at) => hashes.indexOf(hash) !== at)
      if (shared === undefined) throw new Error('No transaction was shared')
      const { input } = await scene.chain.client.getTransaction({ hash: `0x${shared.slice(2)}` })
      expect(parseBuilderCodeSuffixFromCalldata(input)).toEqual({ w: 'quittance' })
    })
  })
})
