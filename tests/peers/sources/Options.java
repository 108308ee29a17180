import java.util.ArrayList;
import java.util.List;
import org.apache.commons.cli.Option;
import org.apache.rocketmq.tools.command.MQAdminStartup;
import org.apache.rocketmq.tools.command.SubCommand;

/** Prints mqadmin's options, one to a line: command, short name, long name, whether it takes a value. */
public class Options {
    public static void main(String[] words) throws ReflectiveOperationException {
        var begin = MQAdminStartup.class.getDeclaredMethod("initCommand");
        begin.setAccessible(true);
        begin.invoke(null);
        var field = MQAdminStartup.class.getDeclaredField("SUB_COMMANDS");
        field.setAccessible(true);
        for (var command : new ArrayList<>((List<?>) field.get(null))) {
            tell((SubCommand) command);
        }
        System.exit(0);
    }

    private static void tell(SubCommand command) {
        System.out.println(command.commandName());
        for (Option one : command.buildCommandlineOptions(new org.apache.commons.cli.Options()).getOptions()) {
            System.out.println(String.join("\t", command.commandName(), one.getOpt() == null ? "" : one.getOpt(),
                one.getLongOpt() == null ? "" : one.getLongOpt().strip(), Boolean.toString(one.hasArg())));
        }
    }
}
