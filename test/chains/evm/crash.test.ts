import { describeCrashes, holdAt } from '../../contracts/crashContract.js'
import { randomAddress } from '../../support/evm/authorization.js'
import { startLocalChain } from '../../support/evm/localChain.js'
import { exactPayment } from '../../support/evm/payment.js'
import { createEoa } from '../../support/evm/wallets.js'
import { startRpcProxy } from '../../support/rpcProxy.js'

describeCrashes('EVM', async () => {
  const chain = await startLocalChain({ facilitatorCount: 1 })
  const proxy = await startRpcProxy(chain.url)
  return {
    environment: {
      EVM_PRIVATE_KEY: chain.facilitators.map(({ privateKey }) => privateKey).join(','),
      EVM_RPC_URL_84532: proxy.url,
      EVM_POLL_INTERVAL_MS_84532: '50',
    },
    holds: {
      'before anything is recorded': holdAt(proxy, 'eth_estimateGas'),
      'between recording and sending': holdAt(proxy, 'eth_sendRawTransaction'),
      'between sending and the proof': holdAt(proxy, 'eth_getTransactionReceipt'),
    },
    plan: async () => {
      const wallet = createEoa()
      await chain.mint(wallet.address, 1_000_000n)
      const payTo = randomAddress()
      const amount = 25_000n
      const body = await exactPayment({ chain, wallet, payTo, amount })
      return { body, payer: wallet.address, amount, countReceived: () => chain.balanceOf(payTo) }
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
