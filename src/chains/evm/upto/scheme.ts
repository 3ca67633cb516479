import type { Payment } from '../../../protocol/payment.js'
import type { Scheme } from '../../../schemes/scheme.js'
import { readAddress } from '../abi/address.js'
import { describeNetwork } from '../describeNetwork.js'
import { createEvmMinimum, type MethodDependencies, type PaymentMethod, toRefusal } from '../paymentMethod.js'
import { createPermitMethod } from './method.js'
import type { Routers } from './routers.js'

export interface UptoDependencies extends MethodDependencies {
  readonly routers: Routers
}

/** `upto` on one network by a permit of the token. The form of the payload decides; after a crash, the journal row. */
export const createUptoScheme = (dependencies: UptoDependencies): Scheme => {
  const { network, rpc, routers } = dependencies
  const permit = createPermitMethod(dependencies)
  const facts = describeNetwork(dependencies, createEvmMinimum(dependencies))
  const methodOf = (_payment: Payment): PaymentMethod => permit

  return {
    ...facts,
    kind: {
      scheme: 'upto',
      network: network.network,
      get extra() {
        return routers.wasDeployed() ? { routerAddress: routers.shared } : undefined
      },
    },
    isOffered: routers.wasDeployed,
    identify: (payment) => methodOf(payment).identify(payment),
    verify: async (payment, options) => {
      if (isTransferAuthorization(payment.proof)) {
        return toRefusal(null, { reason: 'unsupported_asset_transfer_method', message: foreignMessage })
      }
      return await methodOf(payment).verify(payment, options)
    },
    resolve: (settlement, signal) => permit.resolve(settlement, signal),

    describeAsset: async (asset, payTo) => {
      const terms = await facts.describeAsset(asset, payTo)
      if (terms === null || !(await routers.isDeployed())) return null
      const recipient = readAddress(payTo)
      const routerAddress = recipient === null ? routers.shared : routers.findFor(recipient)
      return { ...terms, extra: { ...terms.extra, routerAddress } }
    },

    findRouter: async (payTo) => {
      const recipient = readAddress(payTo)
      if (recipient === null || !(await routers.isDeployed())) return null
      const address = routers.findFor(recipient)
      return { address, isDeployed: (await rpc.getCode(address)) !== '0x', shared: routers.shared }
    },
  }
}

const foreignMessage =
  'payload: an EIP-3009 authorization moves a fixed amount; upto takes a permit of the token (EIP-2612)'

/** The payload of `exact`. */
const isTransferAuthorization = ({ authorization }: Payment['proof']): boolean =>
  typeof authorization === 'object' &&
  authorization !== null &&
  'from' in authorization &&
  !('owner' in authorization)
