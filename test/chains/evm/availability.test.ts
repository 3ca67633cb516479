import { describe, expect, it } from 'vitest'
import { locateUptoRouter } from '../../../src/chains/evm/contracts/routers.js'
import { randomAddress, unixNow } from '../../support/evm/authorization.js'
import type { FacilitatorKey } from '../../support/evm/localChain.js'
import { removePermit2 } from '../../support/evm/permit2.js'
import { uptoPayment } from '../../support/evm/upto.js'
import { uptoPayment as uptoPermit2Payment } from '../../support/evm/uptoPermit2.js'
import { deployUptoRouter } from '../../support/evm/uptoRouter.js'
import { createEoa } from '../../support/evm/wallets.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { pollUntil } from '../../support/pollUntil.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { shiftedClock } from '../../support/shiftedClock.js'
import { untilReady } from '../../support/untilReady.js'
import { useScene } from '../../support/useScene.js'
import { eventually, openScene, quickFinality, refuseSends, type Service } from './scene.js'

/*
 * Effects of the monitor's rounds, which run every five seconds: the tests run concurrently and share only a
 * chain that they do not change.
 */

const scene = useScene(openScene, { isResetAfterEach: false })

const isOffered = (service: Service) => service.listNetworks().includes(scene.chain.network)
const untilOffered = (service: Service, expected: boolean) =>
  eventually(() => (isOffered(service) === expected ? true : null))

/** What the next answer of `/supported` states of a network, by scheme, and the extensions. */
const readListing = ({ core }: Service, network: string = scene.chain.network) => {
  const { kinds, extensions } = core.useCases.core.listSupported()
  const own = kinds.filter((kind) => kind.network === network && kind.x402Version === 2)
  return { extensions, kinds: Object.fromEntries(own.map(({ scheme, extra }) => [scheme, extra])) }
}

/** With Permit2, both proxies, and the router of the service's signers. */
const completeListing = ({ signers }: Service) => {
  const { name, version } = scene.chain.token
  const facilitatorAddress = locateUptoRouter(signers.map(({ address }) => address)).address
  return {
    extensions: expect.arrayContaining(['eip2612GasSponsoring']),
    kinds: {
      exact: { name, version, assetTransferMethods: ['eip3009', 'permit2'] },
      upto: { assetTransferMethods: ['eip2612', 'permit2'], facilitatorAddress },
    },
  }
}

const prepare = (signers: readonly FacilitatorKey[]) => deployUptoRouter(scene.chain, signers)

const missingToken = '0x00000000000000000000000000000000000a11ce'

describe.concurrent('a network', () => {
  it('is listed with all that it settles in the first answer after the start', async () => {
    const service = await scene.open({ prepare })
    expect(readListing(service)).toEqual(completeListing(service))
    expect(service.core.useCases.core.describeService().limitations).toEqual([])
  })

  it.each(['eth_call', 'eth_getCode'])(
    'whose contracts are not known, because nodes refuse %s, is not listed, and the service is not ready',
    async (method) => {
      const proxy = await scene.openProxy()
      proxy.setFault(method, { kind: 'refuse' })
      const service = await scene.open({ rpcUrls: [proxy.url], prepare })
      const { checkReadiness } = service.core.useCases.core
      expect(readListing(service).kinds).toEqual({})
      expect(await checkReadiness()).toMatchObject({ status: 'unready', checks: { rpc: 'unreachable' } })
      expect(service.core.listNetworks()).toMatchObject([
        { problem: 'its nodes do not answer which contracts it has' },
      ])
      proxy.clearFaults()
      const first = await eventually(() => {
        const listing = readListing(service)
        return Object.keys(listing.kinds).length === 0 ? null : listing
      })
      expect(first).toEqual(completeListing(service))
      await untilReady(checkReadiness)
    },
  )

  it.each([
    ['none of its tokens is not listed', [missingToken], false],
    ['one of two tokens is listed', [missingToken, 'usdc'], true],
    ['none of its tokens, and takes any other, is listed', [missingToken, '*'], true],
  ])('that has %s', async (_name, tokens, isListed) => {
    const { chainId, token } = scene.chain
    const listed = tokens.map((each) => (each === 'usdc' ? token.verifyingContract : each))
    const service = await scene.open({ environment: { [`EVM_TOKENS_${chainId}`]: listed.join(',') } })
    expect(isOffered(service)).toBe(isListed)
    const problem = `the network has none of the tokens: check EVM_TOKENS_${chainId}`
    expect(service.core.listNetworks()).toMatchObject([{ problem: isListed ? null : problem }])
  })

  it.each(['*', 'eth_call'])(
    'whose node never answers %s keeps no other network from being listed, nor the service from being ready',
    async (method) => {
      const proxy = await scene.openProxy()
      // Optimism: the proxy's chain, under another identifier.
      proxy.setFault('eth_chainId', { kind: 'tamper', change: () => '0xa' })
      proxy.setFault(method, { kind: 'hang' })
      const service = await scene.open({ prepare, environment: { EVM_RPC_URL_10: proxy.url } })
      expect(readListing(service)).toEqual(completeListing(service))
      expect(readListing(service, 'eip155:10').kinds).toEqual({})
      await untilReady(service.core.useCases.core.checkReadiness)
    },
  )

  it('that has neither router nor Permit2 says so, lists no upto, and refuses it as unsupported_scheme', async () => {
    const own = await openScene()
    try {
      await removePermit2(own.chain.url)
      const service = await own.open()
      expect(readListing(service, own.chain.network).kinds).toEqual({
        exact: expect.objectContaining({ assetTransferMethods: ['eip3009'] }),
      })
      const texts = [
        'upto by permit, and streams by permit, are not offered without the router: run npm run deploy',
        "exact by Permit2 is not offered: the network lacks Permit2 or x402's proxy for it",
        "upto by Permit2 is not offered: the network lacks Permit2 or x402's proxy for it",
      ]
      expect(service.core.listNetworks()).toMatchObject([{ limitations: texts }])
      const { network } = own.chain
      const { limitations } = service.core.useCases.core.describeService()
      expect(limitations).toEqual(texts.map((text) => ({ network, text })))
      const terms = { chain: own.chain, wallet: createEoa() }
      const [router, facilitator] = [randomAddress(), randomAddress()]
      for (const body of [
        await uptoPayment({ ...terms, router }),
        await uptoPermit2Payment({ ...terms, facilitator }),
      ]) {
        const reason = 'unsupported_scheme'
        expect(await service.verify(body)).toMatchObject({ isValid: false, invalidReason: reason })
        const settled = await service.settle({ ...body, settleAmount: '1' })
        expect(settled).toMatchObject({ success: false, errorReason: reason })
      }
    } finally {
      await own.close()
    }
  })

  it('whose node is down at the start is offered once it responds', async () => {
    const proxy = await scene.openProxy()
    proxy.setFault('*', { kind: 'refuse' })
    const service = await scene.open({ rpcUrls: [proxy.url] })
    const { body } = await scene.plan()
    expect(isOffered(service)).toBe(false)
    expect(await rejectionOf(service.settle(body))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(await service.core.useCases.core.checkReadiness()).toMatchObject({
      status: 'unready',
      checks: { rpc: 'unreachable' },
    })
    proxy.clearFaults()
    await untilOffered(service, true)
    expect(await service.settle(body)).toMatchObject({ success: true })
  })

  it('whose signer is unfunded is not offered and refuses no payment until it is funded', async () => {
    const service = await scene.open()
    const address = service.signers[0]?.address ?? '0x'
    expect(isOffered(service)).toBe(true)
    await scene.chain.fundGas(address, 1n)
    const { body } = await scene.plan()
    const refused = { code: 'SERVICE_UNAVAILABLE', operationalCode: 'SVC-4001' }
    // Before the monitor's next round as well as after: not a payer's error.
    expect(await rejectionOf(service.verify(body))).toMatchObject(refused)
    await untilOffered(service, false)
    expect(await rejectionOf(service.verify(body))).toMatchObject(refused)
    expect(await rejectionOf(service.settle(body))).toMatchObject(refused)
    await scene.chain.fundGas(address)
    await untilOffered(service, true)
    expect(await service.settle(body)).toMatchObject({ success: true })
  })

  it('is offered while one of two endpoints responds, not without any, and again with either', async () => {
    const [first, second] = [await scene.openProxy(), await scene.openProxy()]
    const rpcUrls = [first.url, second.url]
    const service = await scene.open({ rpcUrls })
    const settleOne = async () => {
      const { body } = await scene.plan()
      return await service.settle(body)
    }
    first.setFault('*', { kind: 'refuse' })
    const before = second.count('eth_chainId')
    // Two rounds without a change.
    await eventually(() => {
      expect(isOffered(service)).toBe(true)
      return second.count('eth_chainId') >= before + 2 ? true : null
    })
    expect(await settleOne()).toMatchObject({ success: true })
    expect(service.core.listNetworks()[0]?.endpoints.map(({ isUp }) => isUp)).toEqual([false, true])
    second.setFault('*', { kind: 'hang' })
    await untilOffered(service, false)
    first.clearFaults()
    await untilOffered(service, true)
    expect(await settleOne()).toMatchObject({ success: true })
  })

  it('reports low and empty gas balances, and stays ready', async () => {
    const logger = createMemoryLogger()
    const service = await scene.open({ logger, environment: { EVM_LOW_SETTLEMENTS_LEFT: '1000000000' } })
    const { network } = scene.chain
    const address = service.signers[0]?.address ?? '0x'
    const untilGasIs = (word: string) =>
      untilReady(service.core.useCases.core.checkReadiness, { gas: word, [`gas:${network}`]: word })
    await untilGasIs('low')
    expect(service.core.listNetworks()).toMatchObject([{ isServing: true, signers: [{ signer: address }] }])
    expect(service.core.listNetworks()[0]?.signers[0]?.settlementsLeft).toBeGreaterThan(0)
    await scene.chain.fundGas(address, 1n)
    await untilOffered(service, false)
    await untilGasIs('empty')
    expect(logger.messages().filter((message) => message === 'signer.gas_low')).toHaveLength(1)
  })

  it('with a gas price above the cap is not offered until it falls', async () => {
    const proxy = await scene.openProxy()
    const expensive = { kind: 'tamper', change: () => ({ baseFeePerGas: ['0x174876e801'] }) } as const
    proxy.setFault('eth_feeHistory', expensive)
    const service = await scene.open({
      rpcUrls: [proxy.url],
      environment: { [`EVM_MAX_FEE_GWEI_${scene.chain.chainId}`]: '100' },
    })
    expect(isOffered(service)).toBe(false)
    expect(service.core.listNetworks()).toMatchObject([
      { problem: `gas costs more than EVM_MAX_FEE_GWEI_${scene.chain.chainId} allows`, isRpcReachable: true },
    ])
    const { body } = await scene.plan()
    expect(await rejectionOf(service.settle(body))).toMatchObject({ operationalCode: 'SVC-4001' })
    expect(proxy.count('eth_sendRawTransaction')).toBe(0)
    proxy.clearFaults()
    await untilOffered(service, true)
    expect(await service.settle(body)).toMatchObject({ success: true })
  })

  it('never uses an endpoint that comes back with another chain', async () => {
    const logger = createMemoryLogger()
    const strange = await scene.openProxy()
    strange.setFault('*', { kind: 'refuse' })
    const service = await scene.open({ rpcUrls: [strange.url, scene.chain.url], logger })
    strange.clearFaults()
    strange.setFault('eth_chainId', { kind: 'tamper', change: () => '0x1' })
    await eventually(
      () => logger.messages().some((message) => message.startsWith('rpc.wrong_chain_id')) || null,
    )
    strange.clearCalls()
    const { body } = await scene.plan()
    expect(await service.settle(body)).toMatchObject({ success: true })
    const probing = ['eth_chainId', 'eth_getBlockByNumber']
    expect(strange.calls.filter(({ method }) => !probing.includes(method))).toEqual([])
    expect(isOffered(service)).toBe(true)
  })

  it('with one unfunded signer of two settles with the other', async () => {
    const service = await scene.open({ signerCount: 2 })
    await scene.chain.fundGas(service.signers[0]?.address ?? '0x', 1n)
    await pollUntil(
      () => service.core.listNetworks()[0]?.signers[0]?.settlementsLeft === 0,
      'the monitor to read the empty balance',
      service.core.listNetworks,
    )
    expect(isOffered(service)).toBe(true)
    const plans = await Promise.all(Array.from({ length: 6 }, () => scene.plan()))
    for (const { body } of plans) expect(await service.settle(body)).toMatchObject({ success: true })
  })

  it('whose chain lets an authorization expire reports failed only with proof, and continues', async () => {
    const own = await openScene()
    try {
      const clock = shiftedClock()
      const proxy = await own.openProxy()
      const service = await own.open({
        clock,
        rpcUrls: [proxy.url],
        environment: { SETTLE_WAIT_SECONDS: '1', ...quickFinality(own) },
      })
      const { control } = own.chain
      const validBefore = unixNow() + 300
      const slack = 30
      const { body, payTo } = await own.plan({ authorization: { validBefore: String(validBefore) } })
      await control.setAutomine(false)
      const pending = await service.settle(body)
      expect(pending).toMatchObject({ errorReason: 'settlement_pending' })
      // Otherwise what is sent again would be mined, and revert.
      refuseSends(proxy)
      const statusAt = async (chainTime: number) => {
        await control.dropAllTransactions()
        await control.setNextBlockTimestamp(chainTime)
        await control.mine()
        return await reconcile()
      }
      const reconcile = async () => {
        await service.reconcile()
        const view = await service.core.useCases.core.getSettlement(pending.settlementId ?? '')
        return view.status === 'failed' ? view.errorReason : view.status
      }
      clock.shift(400_000)
      expect(await statusAt(validBefore - 1)).toBe('pending')
      expect(await statusAt(validBefore)).toBe('pending')
      expect(await statusAt(validBefore + slack - 1)).toBe('pending')
      clock.shift(-400_000)
      // The node's block time is not sufficient: the local clock must agree.
      expect(await statusAt(validBefore + slack)).toBe('pending')
      clock.shift(400_000)
      await statusAt(validBefore + slack + 1)
      const ended = await pollUntil(
        async () => {
          // A transaction that was on its way when sends were refused may be in the last block: what follows from it is final
          // only with a later one.
          await control.mine()
          const status = await reconcile()
          return status !== 'pending' && status
        },
        'the end of the payment',
        service.core.listNetworks,
      )
      expect(ended).toBe('authorization_expired_unsettled')
      expect(await own.chain.balanceOf(payTo)).toBe(0n)

      // Its nonce is unused: later transactions of the lane wait until the monitor has filled the gap.
      proxy.clearFaults()
      await control.setAutomine(true)
      const next = await own.plan({ now: validBefore + slack })
      const sent = await service.settle(next.body)
      await pollUntil(
        async () => (await own.chain.balanceOf(next.payTo)) === 10_000n,
        'the next payment',
        () => ({ sent, networks: service.core.listNetworks() }),
      )
      await service.reconcile()
      expect(await own.chain.balanceOf(payTo)).toBe(0n)
    } finally {
      await own.close()
    }
  })
})
