import {
  describeSchemeContract,
  type SchemeBody,
  type SchemeHarness,
} from '../../../contracts/schemeContract.js'
import { startRpcProxy } from '../../../support/rpcProxy.js'
import { createTronKey } from '../../../support/tron/keys.js'
import { signTransfer, type TronPaymentBody, tronPayment } from '../../../support/tron/payment.js'
import { toZeroBasedRecovery } from '../../../support/tron/signatureForms.js'
import { decodeTransaction } from '../../../support/tron/transaction.js'
import { startTronChain } from '../../../support/tron/tronChain.js'
import { nileEnvironment, openScheme } from '../openScheme.js'

/** The same authorization: other letter case and key order, v as 0 or 1. */
const respell = ({ paymentPayload, paymentRequirements }: TronPaymentBody): SchemeBody => {
  const { accepted, payload, ...rest } = paymentPayload
  const { refBlockHash, ...values } = payload.authorization
  const authorization = Object.fromEntries(
    Object.entries({ refBlockHash: refBlockHash.toUpperCase(), ...values }).reverse(),
  )
  const signedTransaction = toZeroBasedRecovery(payload.signedTransaction).toUpperCase()
  return {
    paymentPayload: { ...rest, payload: { authorization, signedTransaction }, accepted },
    paymentRequirements,
  }
}

const openHarness = async (): Promise<SchemeHarness> => {
  const chain = await startTronChain({ blockTimeMs: 40 })
  const token = await chain.deploy('TetherTrc20')
  const proxy = await startRpcProxy(chain.url)
  const { scheme, lanes, close } = await openScheme(nileEnvironment(proxy.url, token))

  return {
    scheme,
    otherNetwork: 'tron:mainnet',
    ignoredFields: ['expiration', 'timestamp', 'refBlockBytes', 'refBlockHash'].map(
      (field) => `authorization.${field}`,
    ),
    plan: async () => {
      const payer = createTronKey()
      const payTo = createTronKey().address
      chain.fund(payer.address, 100_000_000)
      await chain.mint(token, payer.address, 10_000n)
      const body = await tronPayment({ chain, payer, payTo, token, amount: 10_000n })
      return { body, respelled: respell(body), countReceived: () => chain.balanceOf(token, payTo) }
    },
    openRecorder: lanes.openRecorder,
    createUnsentTransaction: async () => {
      const payer = createTronKey()
      const options = { chain, payer, payTo: createTronKey().address, token, amount: 1n }
      const { signedTransaction: bytes } = await signTransfer(options)
      return { transaction: decodeTransaction(bytes).id, bytes }
    },
    listSent: () =>
      proxy.calls.flatMap(({ method, params: [body] }) =>
        method === '/wallet/broadcasthex' && typeof body === 'object' && body !== null
          ? [String(Object.values(body)[0])]
          : [],
      ),
    dropSends: () => proxy.setFault('/wallet/broadcasthex', { kind: 'hang' }),
    dropSendResponses: () =>
      proxy.setFault('/wallet/broadcasthex', { kind: 'loseAnswer', connection: 'silent' }),
    dropAllResponses: () => proxy.setFault('*', { kind: 'hang' }),
    restore: async () => {
      proxy.clearFaults()
      await proxy.waitForHangingCalls()
    },
    close: async () => {
      await close()
      await proxy.stop()
      await chain.stop()
    },
  }
}

describeSchemeContract('exact on TRON', openHarness)
