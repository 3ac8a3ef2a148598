import { openStaticEmbedder } from "@agent-reach/embedder-static";
import { embedderConformance } from "../../ports/conformance/embedder.js";
import type { Embedder } from "../../ports/embedder.js";

embedderConformance({
  open: (): Promise<Embedder> => openStaticEmbedder(),
  texts: [
    { text: "cancel the meeting", near: "call off my appointment", far: "what does this jacket cost" },
    { text: "取消会议", near: "cancel the meeting", far: "export the sales report" },
    { text: "把报销单退回去", near: "reject the expense report", far: "play some music" },
    { text: "帮我查一下快递到哪儿了", near: "track my parcel", far: "今天天气怎么样" },
  ],
});
