/** A jetton that a network is known for. */
export interface KnownToken {
  readonly symbol: string
  /** The jetton master's raw address. */
  readonly master: string
}

/** What is known of a TON network without asking it. */
export interface KnownNetwork {
  /** The part of the network's identifier behind `ton:`. */
  readonly name: string
  /** What wallets of version 5 sign for: a message of one network is void on the other. */
  readonly globalId: number
  /** Root hash, in base64, of the state that the network began with: its name among all networks. */
  readonly zeroState: string
  /** A public endpoint, used when the operator names none; rate-limited by those who run it. */
  readonly publicUrl: string
  readonly isTestnet: boolean
  readonly tokens: readonly KnownToken[]
}

/** The networks that work without further configuration. The master: Tether's published address. */
export const knownNetworks: readonly KnownNetwork[] = [
  {
    name: 'mainnet',
    globalId: -239,
    zeroState: 'F6OpKZKqvqeFp6CQmFomXNMfMj2EnaUSOXN+Mh+wVWk=',
    publicUrl: 'https://toncenter.com/api/v2/jsonRPC',
    isTestnet: false,
    tokens: [
      { symbol: 'USDT', master: '0:b113a994b5024a16719f69139328eb759596c38a25f59028b146fecdc3621dfe' },
    ],
  },
  {
    name: 'testnet',
    globalId: -3,
    zeroState: 'gj+B8wb/AmlPk1z1AhVI484rhrUpgSr2oSFIh56VoSg=',
    publicUrl: 'https://testnet.toncenter.com/api/v2/jsonRPC',
    isTestnet: true,
    tokens: [],
  },
]

/** What is known of a network by the part of its identifier behind `ton:`, or null. */
export const findKnownNetwork = (name: string): KnownNetwork | null =>
  knownNetworks.find((network) => network.name === name) ?? null
