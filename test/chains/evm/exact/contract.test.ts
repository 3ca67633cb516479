import { keccak256 } from 'viem'
import { open } from '../../../../src/chains/evm/open.js'
import { readEvmSettings } from '../../../../src/chains/evm/settings.js'
import { systemClock } from '../../../../src/platform/clock.js'
import { silentLogger } from '../../../../src/platform/logger.js'
import { createMemoryRateLimiter } from '../../../../src/stores/memory/rateLimiter.js'
import {
  describeSchemeContract,
  type SchemeBody,
  type SchemeHarness,
} from '../../../contracts/schemeContract.js'
import { randomAddress } from '../../../support/evm/authorization.js'
import { startLocalChain } from '../../../support/evm/localChain.js'
import { type ExactPaymentBody, exactPayment } from '../../../support/evm/payment.js'
import { toParityV } from '../../../support/evm/signatureForms.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { createMemoryLanes } from '../../../support/memoryLanes.js'
import { startRpcProxy } from '../../../support/rpcProxy.js'

const upperCase = (hex: string): string => `0x${hex.slice(2).toUpperCase()}`

/** The same authorization: other letter case of addresses and nonce, reversed keys, v as 0 or 1. */
const respell = ({ paymentPayload, paymentRequirements }: ExactPaymentBody): SchemeBody => {
  const { accepted, payload, ...rest } = paymentPayload
  const { from, to, nonce, ...values } = payload.authorization
  const authorization = { nonce: upperCase(nonce), ...values, to: upperCase(to), from: from.toLowerCase() }
  return {
    paymentPayload: {
      ...rest,
      payload: { authorization, signature: toParityV(payload.signature) },
      accepted,
    },
    paymentRequirements: { ...paymentRequirements, asset: upperCase(paymentRequirements.asset) },
  }
}

const openHarness = async (): Promise<SchemeHarness> => {
  const chain = await startLocalChain({ facilitatorCount: 1 })
  const proxy = await startRpcProxy(chain.url)
  const lanes = createMemoryLanes()
  const reading = readEvmSettings({
    EVM_PRIVATE_KEY: chain.facilitators.map(({ privateKey }) => privateKey).join(','),
    [`EVM_RPC_URL_${chain.chainId}`]: proxy.url,
    [`EVM_POLL_INTERVAL_MS_${chain.chainId}`]: '20',
    EVM_RPC_TIMEOUT_MS: '1000',
  })
  if ('problems' in reading || reading.settings === null) throw new Error('The settings cannot be read')
  const limiter = createMemoryRateLimiter({ clock: systemClock })
  const opened = await open(reading.settings, { clock: systemClock, logger: silentLogger, lanes, limiter })
  const [scheme] = opened.schemes
  if (scheme === undefined) throw new Error('No scheme was opened')

  return {
    scheme,
    otherNetwork: 'eip155:8453',
    plan: async () => {
      const wallet = createEoa()
      const payTo = randomAddress()
      await chain.mint(wallet.address, 10_000n)
      const body = await exactPayment({ chain, wallet, payTo, amount: 10_000n })
      return { body, respelled: respell(body), countReceived: () => chain.balanceOf(payTo) }
    },
    openRecorder: lanes.openRecorder,
    createUnsentTransaction: async () => {
      const bytes = await createEoa().account.signTransaction({
        chainId: chain.chainId,
        nonce: 0,
        to: randomAddress(),
        gas: 21_000n,
        maxFeePerGas: 2_000_000_000n,
        maxPriorityFeePerGas: 1n,
      })
      return { transaction: keccak256(bytes), bytes }
    },
    listSent: () =>
      proxy.calls
        .filter(({ method }) => method === 'eth_sendRawTransaction')
        .map(({ params }) => String(params[0])),
    dropSends: () => proxy.setFault('eth_sendRawTransaction', { kind: 'hang' }),
    dropSendResponses: () =>
      proxy.setFault('eth_sendRawTransaction', { kind: 'loseAnswer', connection: 'silent' }),
    dropAllResponses: () => proxy.setFault('*', { kind: 'hang' }),
    restore: () => proxy.clearFaults(),
    close: async () => {
      await opened.close()
      await limiter.close()
      await proxy.stop()
      await chain.stop()
    },
  }
}

describeSchemeContract('exact on EVM by EIP-3009', openHarness)
