import { Code } from './copy.js'
import { Fact } from './layout.js'

interface PartiesProps {
  readonly payer: string
  readonly recipient: string
  readonly asset: string
  /** Of what the receipt is about: its name, such as `Channel id`, and the text. */
  readonly id: readonly [name: string, text: string]
}

/** The end of a receipt: who pays whom, in what. */
export const Parties = ({ payer, recipient, asset, id: [name, id] }: PartiesProps) => (
  <dl class="long-facts">
    <Fact name="Payer">
      <Code text={payer} label="payer" />
    </Fact>
    <Fact name="Recipient">
      <Code text={recipient} label="recipient" />
    </Fact>
    <Fact name="Asset">
      <Code text={asset} label="asset" />
    </Fact>
    <Fact name={name}>
      <Code text={id} label={name.toLowerCase()} />
    </Fact>
  </dl>
)
