import { describeCrashes, holdAt } from '../../contracts/crashContract.js'
import { createContract } from '../../support/near/contracts.js'
import { startNearChain } from '../../support/near/nearChain.js'
import { createWallet, nearBody, newAccountId, send, transferCall } from '../../support/near/payment.js'
import { startRpcProxy } from '../../support/rpcProxy.js'
import { amount, nearEnvironment, tokenId } from './scene.js'

// We send nothing: between recording and the proof there is only waiting.
describeCrashes(
  'NEAR',
  async () => {
    const chain = await startNearChain()
    const token = chain.addToken(tokenId)
    const proxy = await startRpcProxy(chain.url)
    return {
      environment: { ...nearEnvironment(proxy.url), NEAR_RPC_TIMEOUT_MS: '60000' },
      holds: {
        'before anything is recorded': holdAt(proxy, 'tx'),
        'between sending and the proof': {
          // Not final, as the service sees it.
          hold: () => {
            proxy.clearCalls()
            proxy.setFault('tx', {
              kind: 'tamper',
              change: () => ({ final_execution_status: 'INCLUDED' }),
            })
          },
          // One look-up before the recording, the others after it.
          isThere: () => proxy.count('tx') > 3,
        },
      },
      plan: async () => {
        const payer = createWallet(chain, newAccountId('alice'))
        const payTo = newAccountId('merchant')
        chain.addAccount(payTo, null, createContract({}))
        token.mint(payTo, 0n)
        token.mint(payer.id, 1_000_000n)
        const txHash = await send(payer, tokenId, [transferCall({ to: payTo, amount })])
        const body = nearBody({ asset: tokenId, amount, payTo }, { txHash, from: payer.id })
        const countReceived = async () => token.balanceOf(payTo)
        return [{ method: 'exact-direct', body, payer: payer.id, amount, countReceived }]
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
  },
  { points: ['before anything is recorded', 'between sending and the proof'] },
)
