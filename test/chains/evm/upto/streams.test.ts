import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { AppError } from '../../../../src/errors.js'
import { openStreamBody, type StreamView } from '../../../../src/protocol/streams.js'
import { setUsdcAllowance, spendNonceElsewhere } from '../../../support/evm/permit2.js'
import { uptoPayment as uptoPermit2Payment } from '../../../support/evm/uptoPermit2.js'
import { permit2612TypedData, permitTokenAbi } from '../../../support/evm/uptoRouter.js'
import { createEoa, type EoaWallet } from '../../../support/evm/wallets.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, type ServiceOptions } from '../scene.js'
import { openUpto } from './scene.js'

const scene = useScene(openScene)

const caller = 'account-of-a-shop'
const actor = { caller, token: null }

const openStreams = async (options: ServiceOptions = {}) => {
  const service = await openUpto(scene, options)
  const { streams } = service.core.useCases
  const run = async (name: 'closeStreams' | 'checkStreamFunds') => {
    const job = service.core.jobs.find((each) => each.name === name)
    await job?.run(new AbortController().signal)
  }
  const read = async (id: string) => await streams.getStream(actor, id)
  return {
    ...service,
    streams,
    run,
    read,
    open: async (body: unknown): Promise<StreamView> => {
      const request = { caller, quota: null, isAwaited: () => true }
      const { answer } = await streams.openStream({ body: openStreamBody.parse(body), ...request })
      return answer.stream
    },
    use: (streamId: string, amount: bigint) =>
      streams.updateStream(actor, { streamId, amount: String(amount) }),
    close: async (streamId: string, finalAmount?: bigint) => {
      const body = { streamId, ...(finalAmount === undefined ? {} : { finalAmount: String(finalAmount) }) }
      return (await streams.closeStream(actor, body)).stream
    },
    /** Looks at the funds as if a minute had passed. */
    checkFunds: async (id: string) => {
      await scene.database
        .pool()
        .query(`update streams set checked_at = now() - interval '2 minutes' where id = $1`, [id])
      await run('checkStreamFunds')
      return await read(id)
    },
    /** Runs the job until the stream has ended. */
    waitForEnd: (id: string) =>
      pollUntil(async () => {
        await run('closeStreams')
        const { stream } = await read(id)
        return stream.closedAt !== undefined && stream
      }, 'the stream to end'),
    listEvents: async (id: string): Promise<readonly string[]> => {
      const { rows } = await scene.database
        .pool()
        .query(`select type from webhook_deliveries where data ->> 'id' = $1 order by created_at`, [id])
      return rows.map((row) => z.object({ type: z.string() }).parse(row).type)
    },
  }
}

const fundWallet = async (wallet: EoaWallet): Promise<void> => {
  await scene.chain.fundGas(wallet.address)
}

const sendFrom = async (wallet: EoaWallet, data: Hex): Promise<void> => {
  const to = scene.chain.token.verifyingContract
  const { status } = await scene.chain.send({ account: wallet.account, to, data })
  expect(status).toBe('success')
}

const transfer = (to: Hex, amount: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] })

/** Uses the nonce of the payer's permit for another one. */
const cancelPermit = async (wallet: EoaWallet): Promise<void> => {
  const other = createEoa()
  const deadline = BigInt(Math.floor(Date.now() / 1_000) + 3_600)
  const permit = { owner: wallet.address, spender: other.address, value: 0n, nonce: 0n, deadline }
  const signature = await wallet.signTypedData(permit2612TypedData(scene.chain.token, permit))
  await scene.chain.fundGas(other.address)
  const args = [
    ...([wallet.address, other.address, 0n, deadline] as const),
    Number(`0x${signature.slice(130)}`),
    `0x${signature.slice(2, 66)}`,
    `0x${signature.slice(66, 130)}`,
  ] as const
  await sendFrom(other, encodeFunctionData({ abi: permitTokenAbi, functionName: 'permit', args }))
}

describe('a stream on chain', () => {
  it('by permit pays the recipient exactly the final amount, once', async () => {
    const service = await openStreams()
    const { body, payer, payTo } = await service.plan()
    const { id } = await service.open(body)
    await service.use(id, 1_000n)
    await service.use(id, 2_345n)
    const answers = await Promise.all([service.close(id), service.close(id), service.close(id)])
    expect(answers[0]).toMatchObject({ status: 'closed', settledAmount: '2345', payer, payee: payTo })
    expect(answers[1]).toEqual(answers[0])
    expect(answers[2]).toEqual(answers[0])
    expect(await scene.chain.balanceOf(payTo)).toBe(2_345n)
    expect(await scene.chain.balanceOf(payer)).toBe(7_655n)
    expect(await scene.countTransfersTo(payTo)).toBe(1)
  })

  it('by Permit2 pays the recipient exactly the final amount, and nothing for 0', async () => {
    const service = await openStreams()
    const wallet = createEoa()
    const payTo = createEoa().address
    await scene.chain.mint(wallet.address, 30_000n)
    await setUsdcAllowance(scene.chain, wallet.address)
    const { chain } = scene
    const plan = () => uptoPermit2Payment({ chain, wallet, payTo, facilitator: service.router })
    const [first, second] = [await service.open(await plan()), await service.open(await plan())]
    await service.use(first.id, 777n)
    expect(await service.close(first.id, 800n)).toMatchObject({ status: 'closed', settledAmount: '800' })
    expect(await service.close(second.id)).toMatchObject({
      status: 'closed',
      settledAmount: '0',
      transaction: '',
    })
    expect(await chain.balanceOf(payTo)).toBe(800n)
  })

  it.each([
    ['its permit is for the shared router', { isBound: false }],
    ['only one host is left to confirm it', {}],
  ])('that was opened before a rule is settled at its close, also where %s', async (_, plan) => {
    const environment = { EVM_CROSS_CHECK_AMOUNT: '10000' }
    const before = await openStreams({
      environment: { ...environment, REQUIRE_CROSS_CHECK: 'false', EVM_SHARED_ROUTER_PERMITS: 'true' },
    })
    const { body, payTo } = await before.plan(plan)
    const { id } = await before.open(body)
    await before.use(id, 10_000n)

    const { signers } = before
    const after = await openStreams({ environment, signers, prepare: async () => undefined })
    expect(await after.verify((await after.plan(plan)).body)).toMatchObject({ isValid: false })
    expect(await after.close(id)).toMatchObject({ status: 'closed', settledAmount: '10000' })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
  })

  it('is settled by no other request while it is open', async () => {
    const service = await openStreams()
    const { body, payTo } = await service.plan()
    const { id } = await service.open(body)
    for (const settler of ['anonymous', caller, 'another-account']) {
      expect(await service.settle({ ...body, settleAmount: '0' }, settler)).toMatchObject({
        success: false,
        errorReason: 'duplicate_settlement',
      })
    }
    await service.use(id, 5_000n)
    expect(await service.close(id)).toMatchObject({ status: 'closed' })
    expect(await scene.chain.balanceOf(payTo)).toBe(5_000n)
  })

  it('that is closed while the chain is down is settled when it is back', async () => {
    const proxy = await scene.openProxy()
    const service = await openStreams({ rpcUrls: [proxy.url] })
    const { body, payTo } = await service.plan()
    const { id } = await service.open(body)
    await service.use(id, 4_321n)
    proxy.setFault('*', { kind: 'refuse' })
    expect(await service.close(id)).toMatchObject({ status: 'closing', finalAmount: '4321' })
    await service.run('closeStreams')
    expect(await service.read(id)).toMatchObject({ stream: { status: 'closing' } })
    expect(await service.close(id, 4_321n)).toMatchObject({ status: 'closing' })
    await expect(service.close(id, 1n)).rejects.toMatchObject({ code: 'STREAM_NOT_ACTIVE' })
    proxy.clearFaults()
    expect(await service.waitForEnd(id)).toMatchObject({ status: 'closed', settledAmount: '4321' })
    expect(await scene.chain.balanceOf(payTo)).toBe(4_321n)
  })

  it('notices that the payer moves the funds away, and settles when they are back', async () => {
    const service = await openStreams()
    const wallet = createEoa()
    await fundWallet(wallet)
    const { body, payTo } = await service.plan({ wallet })
    const { id } = await service.open(body)
    await service.use(id, 6_000n)
    expect(await service.checkFunds(id)).toMatchObject({ canContinue: true })
    await sendFrom(wallet, transfer(createEoa().address, 5_000n))
    expect(await service.checkFunds(id)).toMatchObject({
      stream: { status: 'active', risk: 'insufficient_funds' },
      canContinue: false,
    })
    expect(await service.use(id, 6_001n)).toMatchObject({ canContinue: false })
    expect(await service.close(id)).toMatchObject({
      status: 'closing',
      errorReason: 'insufficient_funds',
    })
    await scene.chain.mint(wallet.address, 1_001n)
    expect(await service.waitForEnd(id)).toMatchObject({ status: 'closed', settledAmount: '6001' })
    expect(await scene.chain.balanceOf(payTo)).toBe(6_001n)
    expect(await service.listEvents(id)).toEqual([
      'stream.opened',
      'stream.insufficient_funds',
      'stream.closed',
    ])
  })

  it('says that the funds are back', async () => {
    const service = await openStreams()
    const wallet = createEoa()
    await fundWallet(wallet)
    const { body } = await service.plan({ wallet })
    const { id } = await service.open(body)
    await service.use(id, 10_000n)
    await sendFrom(wallet, transfer(createEoa().address, 1n))
    expect((await service.checkFunds(id)).stream.risk).toBe('insufficient_funds')
    await scene.chain.mint(wallet.address, 1n)
    expect((await service.checkFunds(id)).stream.risk).toBeUndefined()
    expect(await service.listEvents(id)).toContain('stream.funds_restored')
  })

  it('fails when the payer cancels the permit, and says so before', async () => {
    const service = await openStreams()
    const wallet = createEoa()
    const { body, payTo } = await service.plan({ wallet })
    const { id } = await service.open(body)
    await service.use(id, 100n)
    await cancelPermit(wallet)
    expect(await service.checkFunds(id)).toMatchObject({
      stream: { risk: 'permit_allowance_changed' },
      canContinue: false,
    })
    expect(await service.close(id)).toMatchObject({
      status: 'closing',
      errorReason: 'permit_allowance_changed',
    })
    expect(await service.waitForEnd(id)).toMatchObject({
      status: 'failed',
      errorReason: 'permit_allowance_changed',
    })
    expect(await service.close(id)).toMatchObject({ status: 'failed' })
    expect(await scene.chain.balanceOf(payTo)).toBe(0n)
  })

  it('fails when the payer spends the nonce of Permit2 elsewhere', async () => {
    const service = await openStreams()
    const wallet = createEoa()
    await fundWallet(wallet)
    await scene.chain.mint(wallet.address, 10_000n)
    await setUsdcAllowance(scene.chain, wallet.address)
    const { chain } = scene
    const body = await uptoPermit2Payment({ chain, wallet, facilitator: service.router })
    const { id } = await service.open(body)
    await service.use(id, 100n)
    await spendNonceElsewhere(chain, wallet, body.paymentPayload.payload.permit2Authorization)
    expect((await service.checkFunds(id)).stream.risk).toBe('permit2_invalid_nonce')
    await service.close(id)
    expect(await service.waitForEnd(id)).toMatchObject({
      status: 'failed',
      errorReason: 'permit2_invalid_nonce',
    })
  })
})

describe('streams whose permits have one deadline', () => {
  it('close one after the other, also where they are opened at once on two instances', async () => {
    const services = await Promise.all([openStreams(), openStreams()])
    const deadline = BigInt(Math.floor(Date.now() / 1_000) + 3 * 86_400)
    const opened = await Promise.all(
      Array.from({ length: 24 }, async (_, index) => {
        const service = services[index % 2] ?? services[0]
        const { body } = await service.plan({ permit: { deadline } })
        const opened = await openWhenFree(() => service.open({ ...body, expiresAt: inDays(4) }))
        return Date.parse(opened.expiresAt)
      }),
    )
    // Sixteen transactions in two seconds, half of them for streams.
    const spaced = Array.from(
      { length: 24 },
      (_, index) => Number(deadline + 1n) * 1_000 - 60_000 - index * 250,
    )
    expect([...opened].sort((one, other) => other - one)).toEqual(spaced)
  })
})

/** Again after a 503, as its Retry-After says: an instance lets no more wait for their place than it places in seconds. */
const openWhenFree = (open: () => Promise<StreamView>): Promise<StreamView> =>
  pollUntil(
    () =>
      open().catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE') return null
        throw error
      }),
    'a place for the stream',
  )

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()
