import { describeCrashes, holdAt } from '../../contracts/crashContract.js'
import { startRpcProxy } from '../../support/rpcProxy.js'
import { clientPaidPayment, sponsoredPayment } from '../../support/ton/payment.js'
import { fundRelayWallets, tonEnvironment } from '../../support/ton/relayWallets.js'
import { startTonChain } from '../../support/ton/tonChain.js'
import { randomAddress } from '../../support/ton/wallets.js'

const methods = [
  ['relayed', sponsoredPayment],
  ['paid for by the payer', clientPaidPayment],
] as const

describeCrashes('TON', async () => {
  const chain = await startTonChain()
  await fundRelayWallets(chain)
  const proxy = await startRpcProxy(chain.url)
  return {
    environment: { ...tonEnvironment(chain, proxy.url), TON_RPC_TIMEOUT_MS: '60000' },
    holds: {
      'before anything is recorded': holdAt(proxy, 'runGetMethod'),
      'between recording and sending': holdAt(proxy, 'sendBoc'),
      'between sending and the proof': holdAt(proxy, 'getTransactions'),
    },
    plan: () =>
      Promise.all(
        methods.map(async ([method, sign]) => {
          const wallet = await chain.createPayer()
          const payTo = randomAddress()
          const body = await sign({ chain, wallet, payTo, maxTimeoutSeconds: 300 })
          const countReceived = async () => {
            await chain.ledger.settle()
            return await chain.token.balanceOf(payTo)
          }
          return { method, body, payer: wallet.address.toRawString(), amount: 1_000_000n, countReceived }
        }),
      ),
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
