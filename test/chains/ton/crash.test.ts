import { describeCrashes, holdAt } from '../../contracts/crashContract.js'
import { startRpcProxy } from '../../support/rpcProxy.js'
import { clientPaidPayment, sponsoredPayment } from '../../support/ton/payment.js'
import { fundRelayWallets, tonEnvironment } from '../../support/ton/relayWallets.js'
import { startTonChain } from '../../support/ton/tonChain.js'
import { randomAddress } from '../../support/ton/wallets.js'

const openWith = (sign: typeof sponsoredPayment | typeof clientPaidPayment) => async () => {
  const chain = await startTonChain()
  await fundRelayWallets(chain)
  const proxy = await startRpcProxy(chain.url)
  return {
    environment: tonEnvironment(chain, proxy.url),
    holds: {
      'before anything is recorded': holdAt(proxy, 'runGetMethod'),
      'between recording and sending': holdAt(proxy, 'sendBoc'),
      'between sending and the proof': holdAt(proxy, 'getTransactions'),
    },
    plan: async () => {
      const wallet = await chain.createPayer()
      const payTo = randomAddress()
      const body = await sign({ chain, wallet, payTo, maxTimeoutSeconds: 300 })
      const countReceived = async () => {
        await chain.ledger.settle()
        return await chain.token.balanceOf(payTo)
      }
      return { body, payer: wallet.address.toRawString(), amount: 1_000_000n, countReceived }
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

describeCrashes('TON, relayed', openWith(sponsoredPayment))
describeCrashes('TON, paid for by the payer', openWith(clientPaidPayment))
