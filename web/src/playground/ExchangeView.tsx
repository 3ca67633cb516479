import { useState } from 'preact/hooks'
import { CodeBlock } from '../ui/copy.js'
import { Choice } from './Choice.js'
import type { Exchange } from './exchange.js'
import { parseObject, toBase64, toPrettyJson } from './json.js'
import type { ProtocolHeader } from './steps.js'

/** A request and its answer, as they were sent. */
export const ExchangeView = ({ exchange }: { readonly exchange: Exchange }) => {
  const { method, path, requestHeaders, requestBody, response, milliseconds } = exchange
  const name = `${method} ${path}`
  return (
    <details class="exchange">
      <summary>
        <code>{name}</code>
        <span class={response !== null && response.status < 400 ? 'answered' : 'answered bad'}>
          {response === null ? 'no answer' : response.status}
        </span>
        <span class="soft">{milliseconds} ms</span>
      </summary>
      <h4>Request</h4>
      <HeaderList label={`Headers of ${name}`} headers={[['', name], ...requestHeaders]} />
      {requestBody === null ? null : <Content label={`Body of ${name}`} raw={requestBody} />}
      <h4>Answer</h4>
      {response === null ? (
        <p class="soft">None arrived.</p>
      ) : (
        <>
          <HeaderList
            label={`Headers of the answer to ${name}`}
            headers={[['', `HTTP ${response.status}`], ...response.headers]}
          />
          <Content label={`Body of the answer to ${name}`} raw={response.body} />
        </>
      )}
    </details>
  )
}

interface HeaderListProps {
  readonly label: string
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** The first line has no name. */
const HeaderList = ({ label, headers }: HeaderListProps) => (
  <CodeBlock
    label={label}
    text={headers.map(([name, value]) => (name === '' ? value : `${name}: ${value}`)).join('\n')}
  />
)

/** A header of the protocol: what it says, and what travels. */
export const HeaderView = ({ header: { name, value } }: { readonly header: ProtocolHeader }) => (
  <div class="protocol-header">
    <h4>
      Header <code>{name}</code>
    </h4>
    <Content label={`Header ${name}`} raw={toBase64(value)} decoded={toPrettyJson(value)} />
  </div>
)

interface ContentProps {
  readonly label: string
  readonly raw: string
  readonly decoded?: string
}

const forms = ['Decoded', 'Raw'] as const

const Content = ({ label, raw, decoded }: ContentProps) => {
  const [form, setForm] = useState<string>('Decoded')
  const readable = decoded ?? prettify(raw)
  return (
    <div class="content">
      {readable === raw ? null : (
        <Choice label={`Form of: ${label}`} options={forms} chosen={form} onChoose={setForm} />
      )}
      <CodeBlock label={label} text={form === 'Raw' ? raw : readable} />
    </div>
  )
}

const prettify = (text: string): string => {
  const json = parseObject(text)
  return json === null ? text : toPrettyJson(json)
}
