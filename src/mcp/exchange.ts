import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CallToolRequestOptions,
  type Client,
  isInputRequiredResult,
  type RequestOptions,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { defined } from '../wire/defined.ts';
import { isRecord } from '../wire/unknown.ts';
import { askForm } from './elicit.ts';
import { plainWords } from './serverschema.ts';
import { type McpTask, readTask } from './tasks.ts';
import type { McpCaller } from './underway.ts';

/** The answers to a server's questions, which are sent with the repeated request. */
export interface Answered {
  readonly inputResponses?: Record<string, unknown>;
  readonly requestState?: string | undefined;
}

/** Most times that a server may ask for input before it answers. */
const MAX_ROUNDS = 10;
/** Most questions of one round. */
const MAX_QUESTIONS = 10;

const ANYTHING = z.looseObject({});

/** One request of a program to a server, with the rounds of questions and the polling that the answer may need. */
export class Exchange {
  readonly client: Client;
  readonly caller: McpCaller;
  readonly options: RequestOptions;
  /** Whether the server has answered a request of it. */
  isTaken = false;
  readonly #server: string;
  /** Whether the server may put questions to the user. */
  readonly #elicit: boolean;

  constructor(server: string, client: Client, caller: McpCaller, options: RequestOptions, elicit: boolean) {
    this.#server = server;
    this.client = client;
    this.caller = caller;
    this.options = options;
    this.#elicit = elicit;
  }

  /** Sends a request until the answer asks for no more input. */
  async rounds(send: (answered: Answered, options: CallToolRequestOptions) => Promise<unknown>): Promise<unknown> {
    let answered: Answered = {};
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const answer = await send(answered, { ...this.options, allowInputRequired: true });
      this.isTaken = true;
      if (!isInputRequiredResult(answer)) return answer;
      const { inputRequests, requestState } = answer;
      const inputResponses = await this.#answers(inputRequests ?? {});
      answered = { inputResponses, requestState };
    }
    throw new Error(`it asked for input ${MAX_ROUNDS} times and gave no answer`);
  }

  /** Sends a request that the library does not know. Its answer is any object. */
  async request(method: string, params: Record<string, unknown>): Promise<Record<string, unknown>> {
    const answer = await this.client.request({ method, params }, ANYTHING, this.options);
    this.isTaken = true;
    return answer;
  }

  /**
   * Polls a task until it ends, and returns its result, or the task itself if it has not ended after `patienceMs`. Aborting the call
   * cancels the task.
   */
  async settle(task: McpTask, patienceMs: number): Promise<Readonly<Record<string, unknown>> | McpTask> {
    const until = performance.now() + patienceMs;
    const given = new Set<string>();
    try {
      for (let now = task; ; ) {
        const result = await this.#resultOf(now, given);
        if (result !== null) return result;
        if (performance.now() + now.pollMs > until) return now;
        await sleep(now.pollMs, undefined, { signal: this.caller.signal });
        now = await this.look(task.id);
      }
    } catch (error) {
      if (this.caller.signal.aborted) this.#cancel(task.id);
      throw error;
    }
  }

  /** The present state of a task. */
  async look(taskId: string): Promise<McpTask> {
    const task = readTask(await this.request('tasks/get', { taskId }));
    if (task === null) throw new Error('the state of its task is unreadable');
    return task;
  }

  /** The result of a task that has ended, or that waits for input and delivers its questions with the result; null for others. */
  async #resultOf({ id, status, words, raw }: McpTask, given: Set<string>): Promise<Readonly<Record<string, unknown>> | null> {
    const modern = this.client.getProtocolEra() === 'modern';
    switch (status) {
      case 'working':
        return null;
      case 'cancelled':
        throw new Error(`its task was cancelled: ${plainWords(words)}`);
      case 'completed':
        if (modern) return isRecord(raw['result']) ? raw['result'] : {};
        return this.request('tasks/result', { taskId: id });
      case 'failed':
        if (!modern) return this.request('tasks/result', { taskId: id });
        throw new Error(isRecord(raw['error']) ? String(raw['error']['message']) : 'its task failed');
      case 'input_required':
        // The previous version delivers the questions while the client waits for the result.
        if (!modern) return this.request('tasks/result', { taskId: id });
        await this.#update(id, raw['inputRequests'], given);
        return null;
      default:
        throw new Error(`its task has the unknown status '${plainWords(status)}'`);
    }
  }

  async #update(taskId: string, requests: unknown, given: Set<string>): Promise<void> {
    const open = Object.entries(isRecord(requests) ? requests : {}).filter(([key]) => !given.has(key));
    if (open.length === 0) return;
    if (given.size > MAX_ROUNDS * MAX_QUESTIONS) throw new Error('its task asked for input too often');
    for (const [key] of open) given.add(key);
    await this.request('tasks/update', { taskId, inputResponses: await this.#answers(Object.fromEntries(open)) });
  }

  async #answers(requests: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
    const entries = Object.entries(requests);
    if (entries.length > MAX_QUESTIONS) throw new Error(`it asked ${entries.length} questions at once`);
    const answers: Record<string, unknown> = {};
    // One after the other, because there is one user.
    for (const [key, request] of entries) answers[key] = await this.#answer(request);
    return answers;
  }

  async #answer(request: unknown): Promise<unknown> {
    const method = isRecord(request) ? String(request['method']) : '';
    if (method !== 'elicitation/create')
      throw new Error(`it asked for '${plainWords(method)}', which this client does not offer`);
    if (!this.#elicit) throw new Error('it asked the user for input; the configuration allows that with elicit: true');
    return askForm(this.#server, isRecord(request) ? request['params'] : null, this.caller);
  }

  #cancel(taskId: string): void {
    const { timeout } = this.options;
    this.client.request({ method: 'tasks/cancel', params: { taskId } }, ANYTHING, defined({ timeout })).catch(() => {});
  }
}
