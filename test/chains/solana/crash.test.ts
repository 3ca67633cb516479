import { type CrashHarness, describeCrashes, holdAt } from '../../contracts/crashContract.js'
import { startRpcProxy } from '../../support/rpcProxy.js'
import { startLocalSolana } from '../../support/solana/localChain.js'
import { createParties, solanaPayment } from '../../support/solana/payment.js'
import { environmentFor } from './scene.js'

const open = async (): Promise<CrashHarness> => {
  const chain = await startLocalSolana()
  // A payment stays valid, however long the processes of the test take.
  chain.slots.hold()
  const proxy = await startRpcProxy(chain.url)
  return {
    environment: { ...environmentFor(chain.feePayers, [proxy.url]), SOLANA_RPC_TIMEOUT_MS: '60000' },
    holds: {
      'before anything is recorded': holdAt(proxy, 'simulateTransaction'),
      'between recording and sending': holdAt(proxy, 'sendTransaction'),
      'between sending and the proof': holdAt(proxy, 'getSignatureStatuses'),
    },
    plan: async () => {
      const { payer, payTo } = createParties(chain, 1_000_000n)
      const amount = 25_000n
      const body = solanaPayment({ chain, payer, payTo, amount })
      const countReceived = async () => chain.holdingOf(payTo)
      return [{ method: 'exact', body, payer: payer.publicKey.toBase58(), amount, countReceived }]
    },
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

describeCrashes('Solana', open, { isEmbedded: true })
