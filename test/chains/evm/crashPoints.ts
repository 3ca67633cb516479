import { type CrashHarness, holdAt } from '../../contracts/crashContract.js'
import type { LocalChain } from '../../support/evm/localChain.js'
import { patientTimeoutMs, startRpcProxy } from '../../support/rpcProxy.js'

/** A service on the chain, whose settles can be held at each point of the engine. */
export const openCrashPoints = async (
  chain: LocalChain,
  {
    environment = {},
    plan,
  }: Pick<CrashHarness, 'plan'> & { readonly environment?: Readonly<Record<string, string>> },
): Promise<CrashHarness> => {
  const proxy = await startRpcProxy(chain.url)
  let askedBefore = 0
  /** Transactions whose receipt was asked for. */
  const countAsked = () => {
    const asked = proxy.calls.filter(({ method }) => method === 'eth_getTransactionReceipt')
    return new Set(asked.map(({ params: [hash] }) => hash)).size
  }
  return {
    environment: {
      EVM_PRIVATE_KEY: chain.facilitators.map(({ privateKey }) => privateKey).join(','),
      EVM_RPC_URL_84532: proxy.url,
      EVM_POLL_INTERVAL_MS_84532: '50',
      EVM_RPC_TIMEOUT_MS: patientTimeoutMs,
      EVM_WALLET_CALL_TIMEOUT_MS: patientTimeoutMs,
      ...environment,
    },
    holds: {
      'before anything is recorded': holdAt(proxy, 'eth_estimateGas'),
      'between recording and sending': holdAt(proxy, 'eth_sendRawTransaction'),
      'between sending and the proof': {
        // Not mined, as the service sees it: one that hangs would keep it from asking for the next one.
        hold: () => {
          askedBefore = countAsked()
          proxy.setFault('eth_getTransactionReceipt', { kind: 'tamper', change: () => null })
        },
        isThere: () => countAsked() > askedBefore,
      },
    },
    plan,
    release: () => {
      proxy.clearFaults()
      proxy.clearCalls()
    },
    close: async () => {
      await proxy.stop()
      await chain.stop()
    },
  }
}
