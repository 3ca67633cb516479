import { describeCrashes, holdAt } from '../../contracts/crashContract.js'
import { startRpcProxy } from '../../support/rpcProxy.js'
import { createTronKey } from '../../support/tron/keys.js'
import { tronPayment } from '../../support/tron/payment.js'
import { startTronChain } from '../../support/tron/tronChain.js'
import { nileEnvironment } from './openScheme.js'

describeCrashes('TRON', async () => {
  const chain = await startTronChain({ blockTimeMs: 40 })
  const token = await chain.deploy('TetherTrc20')
  const proxy = await startRpcProxy(chain.url)
  return {
    environment: { ...nileEnvironment(proxy.url, token), TRON_RPC_TIMEOUT_MS: '60000' },
    holds: {
      'before anything is recorded': holdAt(proxy, '/wallet/triggerconstantcontract'),
      'between recording and sending': holdAt(proxy, '/wallet/broadcasthex'),
      'between sending and the proof': {
        hold: () => chain.pause(),
        isThere: () => chain.ledger.countWaiting() > 0,
      },
    },
    plan: async () => {
      const payer = createTronKey()
      const payTo = createTronKey().address
      const amount = 25_000n
      chain.fund(payer.address, 100_000_000)
      await chain.mint(token, payer.address, 1_000_000n)
      // It stays valid while a busy machine ends a process and starts another.
      const body = await tronPayment({ chain, payer, payTo, token, amount, maxTimeoutSeconds: 600 })
      const countReceived = () => chain.balanceOf(token, payTo)
      return [{ method: 'exact', body, payer: payer.address, amount, countReceived }]
    },
    release: () => {
      proxy.clearFaults()
      proxy.clearCalls()
      chain.resume()
    },
    close: async () => {
      await proxy.stop()
      await chain.stop()
    },
  }
})
