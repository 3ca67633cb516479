import { inspect } from 'node:util'
import { encodeFunctionData, type Hex, hashMessage, serializeErc6492Signature } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { writeX402Message } from '../../../../src/extensions/siwx/messages.js'
import type { Requester } from '../../../../src/ports/rateLimiter.js'
import type { SignInFields } from '../../../../src/protocol/siwx.js'
import { wirePaymentRequest } from '../../../../src/protocol/wire.js'
import {
  type ContractWallet,
  createEoa,
  createMoodyWallet,
  createSafeWallet,
  deployWallet,
  getHostileFactory,
  hostileFactoryAbi,
} from '../../../support/evm/wallets.js'
import { createMemoryLogger } from '../../../support/memoryLogger.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { rejectionOf } from '../../../support/rejectionOf.js'
import type { SeenCall } from '../../../support/rpcProxy.js'
import { startService } from '../../../support/service.js'
import { standingClock } from '../../../support/shiftedClock.js'
import { signInFields, signInUri, toProof } from '../../../support/siwx.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, type Service, type ServiceOptions } from '../scene.js'

/*
 * Code that strangers name runs on the nodes that payments need: the wallet of a sign-in, its factory, and the wallet of
 * a payment.
 */

const scene = useScene(openScene)
let factory: Hex
beforeAll(async () => {
  factory = await getHostileFactory(scene.chain)
})

const attacker: Requester = { name: '203.0.113.1', site: null }
const other: Requester = { name: '203.0.113.2', site: null }
const lifetimeMs = 300_000

/** Gives back nothing of what an address may have run in a minute while a machine is busy. */
const openStanding = () => open({ clock: standingClock() })

const fieldsOf = (address: Hex): SignInFields => {
  const now = Date.now()
  return signInFields({
    address,
    chainId: scene.chain.network,
    issuedAt: new Date(now).toISOString(),
    expirationTime: new Date(now + lifetimeMs).toISOString(),
  })
}

// Each takes half of the gas that a sign-in may use.
const burningCount = 41

/** A sign-in by a wallet whose factory uses up all the gas that it is given. */
const burningProof = () => {
  const data = encodeFunctionData({ abi: hostileFactoryAbi, functionName: 'burnEverything' })
  const signature = serializeErc6492Signature({ address: factory, data, signature: '0xabcd' })
  return toProof(fieldsOf(createEoa().address), signature)
}

const safeProof = async (wallet: ContractWallet) => {
  const fields = fieldsOf(wallet.address)
  const signature = await wallet.owner.account.signTypedData({
    domain: { chainId: scene.chain.chainId, verifyingContract: wallet.address },
    types: { SafeMessage: [{ name: 'message', type: 'bytes' }] },
    primaryType: 'SafeMessage',
    message: { message: hashMessage(writeX402Message(fields) ?? '') },
  })
  return toProof(fields, signature)
}

const keyProof = async () => {
  const { account } = createEoa()
  const fields = fieldsOf(account.address)
  return toProof(fields, await account.signMessage({ message: writeX402Message(fields) ?? '' }))
}

const signIn = ({ core }: Service, proof: unknown, requester: Requester) =>
  core.useCases.siwx.verifySignIn({ proof, uri: signInUri }, requester)

const verify = ({ core }: Service, body: unknown, requester: Requester) =>
  core.useCases.core.verifyPayment({
    body: wirePaymentRequest.parse(body),
    caller: 'anonymous',
    requester,
    quota: null,
    isAwaited: () => true,
  })

const settle = async ({ core }: Service, body: unknown, requester: Requester) => {
  const request = { body: wirePaymentRequest.parse(body), caller: 'anonymous', requester }
  return (await core.useCases.core.settlePayment({ ...request, quota: null, idempotencyKey: null })).result
}

const open = async (options: ServiceOptions = {}) => {
  const proxy = await scene.openProxy()
  const service = await scene.open({ rpcUrls: [proxy.url], ...options })
  proxy.clearCalls()
  return { proxy, service }
}

const isAbout = (params: readonly unknown[], address: Hex) =>
  JSON.stringify(params).toLowerCase().includes(address.slice(2).toLowerCase())

const readGas = ({ params: [request] }: SeenCall): number =>
  typeof request === 'object' && request !== null && 'gas' in request ? Number(request.gas) : Infinity

const payByContract = async (mood: 'acceptsAll' | 'refusesAll' = 'acceptsAll') => {
  const wallet = await createMoodyWallet(scene.chain, mood)
  return await scene.plan({ wallet: await deployWallet(scene.chain, wallet) })
}

const quickly = { environment: { EVM_WALLET_CALL_TIMEOUT_MS: '1000' } }

describe('the wallet of a sign-in', () => {
  it('is asked alone, once about all messages, with 3M gas at most', async () => {
    const { proxy, service } = await open()
    const { body, payer } = await scene.plan()
    const [refused, paid] = await Promise.all([
      rejectionOf(signIn(service, burningProof(), attacker)),
      verify(service, body, other),
    ])
    expect(refused).toMatchObject({ signInReason: 'siwx_signature_invalid' })
    expect(paid).toEqual({ isValid: true, payer })
    const asked = proxy.calls.filter(({ params }) => isAbout(params, factory))
    expect(asked.map(({ method, isBatched }) => ({ method, isBatched }))).toEqual([
      { method: 'eth_call', isBatched: false },
    ])
    expect(asked.reduce((sum, call) => sum + readGas(call), 0)).toBeLessThanOrEqual(3_000_000)
  })

  it('on which the node hangs ends at its deadline, and takes no endpoint from payments', async () => {
    const logger = createMemoryLogger()
    const { proxy, service } = await open({ ...quickly, logger })
    proxy.setFault('eth_call', { kind: 'silenceFor', isSilent: (params) => isAbout(params, factory) })
    const [refused, paid] = await Promise.all([
      rejectionOf(signIn(service, burningProof(), attacker)),
      verify(service, (await scene.plan()).body, other),
    ])
    expect(refused).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 5 })
    expect(paid).toMatchObject({ isValid: true })
    expect(service.core.listNetworks()[0]?.endpoints).toMatchObject([{ isUp: true }])
    expect(await verify(service, (await scene.plan()).body, attacker)).toMatchObject({ isValid: true })
    expect(inspect(logger.lines, { depth: null })).toMatch(
      /no response within \d{3,4} ms|The deadline passed/,
    )
  })

  it('leaves wallets of others their turn, while one address has 50 sign-ins in flight', async () => {
    const wallet = await createSafeWallet(scene.chain)
    await deployWallet(scene.chain, wallet)
    const payment = await payByContract()
    const { proxy, service } = await open()
    proxy.setFault('eth_call', { kind: 'silenceFor', isSilent: (params) => isAbout(params, factory) })
    const burning = Array.from({ length: 50 }, () => signIn(service, burningProof(), attacker))
    const ended = Promise.allSettled(burning)
    const countInFlight = () => proxy.calls.filter(({ params }) => isAbout(params, factory)).length
    await pollUntil(() => countInFlight() > 0, 'a wallet to be asked')
    expect(await signIn(service, await safeProof(wallet), other)).toMatchObject({ isValid: true })
    expect(await verify(service, payment.body, other)).toMatchObject({ isValid: true })
    // The turns of the attacker itself are limited, and a key needs none.
    const last = burning.at(-1) ?? Promise.resolve()
    expect(await rejectionOf(last)).toMatchObject({ code: 'RATE_LIMITED' })
    expect(countInFlight()).toBe(2)
    expect(await signIn(service, await keyProof(), attacker)).toMatchObject({ signatureScheme: 'eip191' })
    await proxy.stop()
    await ended
  })

  it('uses the gas of its address, which is refused beyond it', async () => {
    const { service } = await openStanding()
    const wallet = await createSafeWallet(scene.chain)
    await deployWallet(scene.chain, wallet)
    // What is not used is given back.
    for (let count = 0; count < 25; count++) {
      expect(await signIn(service, await safeProof(wallet), attacker)).toMatchObject({ isValid: true })
    }
    const reasons: (string | null)[] = []
    for (let count = 0; count < burningCount; count++) {
      const { code, retryAfterSeconds } = await rejectionOf(signIn(service, burningProof(), attacker))
      reasons.push(code)
      if (code !== 'RATE_LIMITED') continue
      expect(retryAfterSeconds).toBeGreaterThan(0)
      expect(retryAfterSeconds).toBeLessThanOrEqual(60)
    }
    expect(reasons[0]).toBe('SIGN_IN_FAILED')
    expect(reasons.at(-1)).toBe('RATE_LIMITED')
    expect(await signIn(service, await safeProof(wallet), other)).toMatchObject({ isValid: true })
    expect(await signIn(service, await keyProof(), attacker)).toMatchObject({ signatureScheme: 'eip191' })
  })

  it('is refused over HTTP with 429 and Retry-After', async () => {
    const { url, close } = await startService({
      chain: { ...scene.chain, facilitators: [createEoa()] },
      databaseUrl: scene.database.url,
      clock: standingClock(),
    })
    try {
      const ask = () =>
        fetch(`${url}/v1/siwx/verify`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ proof: burningProof(), uri: signInUri }),
        })
      const statuses: number[] = []
      for (let count = 0; count < burningCount; count++) statuses.push((await ask()).status)
      expect(statuses[0]).toBe(401)
      const response = await ask()
      expect(response.status).toBe(429)
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    } finally {
      await close()
    }
  })
})

describe('the wallet of a payment', () => {
  it('is simulated and estimated alone, with bounded gas', async () => {
    const { proxy, service } = await open()
    const payment = await payByContract()
    const results = await Promise.all([
      settle(service, payment.body, attacker),
      verify(service, (await scene.plan()).body, other),
    ])
    expect(results).toMatchObject([{ success: true }, { isValid: true }])
    const runs = proxy.calls.filter(
      ({ method, params }) =>
        ['eth_call', 'eth_estimateGas'].includes(method) && isAbout(params, payment.payTo),
    )
    expect(runs.map(({ method }) => method)).toEqual(['eth_call', 'eth_estimateGas'])
    for (const run of runs) {
      expect(run.isBatched).toBe(false)
      expect(readGas(run)).toBeLessThanOrEqual(1_000_000)
    }
  })

  it('on which the node hangs takes no endpoint from payments, and is answered as retryable', async () => {
    const { proxy, service } = await open(quickly)
    const payment = await payByContract()
    proxy.setFault('eth_call', {
      kind: 'silenceFor',
      isSilent: (params) => isAbout(params, payment.payTo),
    })
    expect(await rejectionOf(verify(service, payment.body, attacker))).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      operationalCode: 'SVC-2004',
      retryAfterSeconds: 2,
    })
    expect(service.core.listNetworks()[0]?.endpoints).toMatchObject([{ isUp: true }])
    expect(await verify(service, (await scene.plan()).body, other)).toMatchObject({ isValid: true })
    proxy.clearFaults()
    const { service: patient } = await open()
    expect(await settle(patient, payment.body, attacker)).toMatchObject({ success: true })
  })

  it('uses the gas of its address; what was verified before is still settled', async () => {
    const { service } = await openStanding()
    const payment = await payByContract()
    const hostile = await payByContract('refusesAll')
    expect(await verify(service, payment.body, attacker)).toMatchObject({ isValid: true })
    let refused: unknown = null
    for (let round = 0; round < 14 && refused === null; round++) {
      const answers = await Promise.allSettled(
        Array.from({ length: 25 }, () => verify(service, hostile.body, attacker)),
      )
      refused = answers.find((answer) => answer.status === 'rejected')?.reason ?? null
    }
    expect(refused).toMatchObject({ code: 'SERVICE_UNAVAILABLE', operationalCode: 'SVC-4001' })
    expect(await verify(service, (await payByContract()).body, other)).toMatchObject({ isValid: true })
    expect(await verify(service, (await scene.plan()).body, attacker)).toMatchObject({ isValid: true })
    expect(await settle(service, payment.body, attacker)).toMatchObject({ success: true })
  })
})
