import type { RpcProxy } from './rpcProxy.js'

interface Sends {
  /** JSON-RPC method or path by which the chain's clients send. */
  readonly method: string
  /** Start of all methods that send, where there are several. */
  readonly prefix?: string
}

/** What the scheme contract needs of a connection that a scheme only reads from; clients send to the node itself. */
export const watchConnection = (proxy: RpcProxy, { method: sendMethod, prefix }: Sends) => ({
  listSent: () =>
    proxy.calls.flatMap(({ method, params }) => {
      const isSend = prefix === undefined ? method === sendMethod : method.startsWith(prefix)
      return isSend ? [JSON.stringify(params)] : []
    }),
  dropSends: () => proxy.setFault(sendMethod, { kind: 'hang' }),
  dropSendResponses: () => proxy.setFault(sendMethod, { kind: 'loseAnswer', connection: 'silent' }),
  dropAllResponses: () => proxy.setFault('*', { kind: 'hang' }),
  restore: async () => {
    proxy.clearFaults()
    await proxy.waitForHangingCalls()
  },
})
