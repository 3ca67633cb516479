import { networkUnavailable } from '../../common/networkUnavailable.js'
import { chooseBatch } from './chooseBatch.js'
import type { QueuedOrder, Relayed, RelayRequest } from './relayRequest.js'

/** Orders that wait for a place in a message. */
export interface OrderQueue {
  /** Waits in the line; rejects when nobody waits for it any more. */
  add(order: RelayRequest): Promise<Relayed>
  /** Puts back what was taken and not recorded. */
  putBack(orders: readonly QueuedOrder[]): void
  /** What one message carries, given what its wallet owns; refuses who comes too late for any. */
  take(limits: { readonly balance: bigint; readonly latestExpiry: number }): readonly QueuedOrder[]
  /** Resolves when somebody waits. */
  whenSome(): Promise<void>
  /** Refuses all, and wakes who waits for somebody to come. */
  end(): void
}

/** Creates an empty line for one network. */
export const createOrderQueue = (network: string): OrderQueue => {
  let waiting: QueuedOrder[] = []
  let wake: () => void = () => undefined
  let somebody = whenWoken()

  function whenWoken(): Promise<void> {
    return new Promise((resolve) => {
      wake = resolve
    })
  }

  const rouse = (): void => {
    const rouseThose = wake
    somebody = whenWoken()
    rouseThose()
  }

  const remove = (orders: readonly QueuedOrder[]): void => {
    waiting = waiting.filter((order) => !orders.includes(order))
  }

  return {
    add: (order) =>
      new Promise((resolve, reject) => {
        const { waitUntil } = order
        const giveUp = () => {
          if (!waiting.includes(waitingOrder)) return
          remove([waitingOrder])
          waitingOrder.reject(networkUnavailable(network))
        }
        const end = () => waitUntil.removeEventListener('abort', giveUp)
        const waitingOrder: QueuedOrder = {
          ...order,
          resolve: (relayed) => {
            end()
            resolve(relayed)
          },
          reject: (error) => {
            end()
            reject(error)
          },
        }
        waitUntil.addEventListener('abort', giveUp, { once: true })
        waiting.push(waitingOrder)
        rouse()
      }),
    putBack: (orders) => {
      for (const order of orders) {
        if (order.waitUntil.aborted) order.reject(networkUnavailable(network))
        else waiting.push(order)
      }
    },
    take: ({ balance, latestExpiry }) => {
      const late = waiting.filter(({ prepared }) => prepared.decoded.request.validUntil <= latestExpiry)
      remove(late)
      for (const order of late) order.reject(networkUnavailable(network))
      const batch = chooseBatch(waiting, balance)
      remove(batch)
      return batch
    },
    whenSome: async () => {
      if (waiting.length === 0) await somebody
    },
    end: () => {
      for (const order of waiting.splice(0)) order.reject(networkUnavailable(network))
      rouse()
    },
  }
}
