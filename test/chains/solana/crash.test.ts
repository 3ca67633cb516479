import { describeCrashes, holdAt } from '../../contracts/crashContract.js'
import { startRpcProxy } from '../../support/rpcProxy.js'
import { startLocalSolana } from '../../support/solana/localChain.js'
import { createParties, solanaPayment } from '../../support/solana/payment.js'
import { environmentFor } from './scene.js'

describeCrashes('Solana', async () => {
  const chain = await startLocalSolana()
  const proxy = await startRpcProxy(chain.url)
  return {
    environment: environmentFor(chain.feePayers, [proxy.url]),
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
      return { body, payer: payer.publicKey.toBase58(), amount, countReceived }
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
})
